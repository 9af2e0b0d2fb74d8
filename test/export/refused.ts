import type { Engine } from "../../src/export/index.ts";

/** Targets that an engine refuses by itself before any rule, each with its status: the only ones that may differ. */
const REFUSED: Readonly<
  Partial<Record<Engine, readonly (readonly [why: string, status: number, is: (target: string) => boolean])[]>>
> = {
  nginx: [
    ["an escape that is none, or %00", 400, (target) => /%(?![0-9A-Fa-f]{2})|%00/.test(pathOf(target))],
    ["`..` above the root", 400, (target) => climbs(pathOf(target))],
  ],
  haproxy: [
    ["a byte from 0x80 on", 400, (target) => /[\x80-\xff]/.test(target)],
    ["a number sign", 400, (target) => target.includes("#")],
    ["an absolute form of another host than the field's", 400, (target) => /^http:\/\/(?!gw\.test\/)/.test(target)],
  ],
};

const pathOf = (target: string): string => target.replace(/^http:\/\/[^/]*/, "").split(/[?#]/, 1)[0] ?? "";

const climbs = (path: string): boolean => {
  let depth = 0;
  for (const segment of decoded(path).split(/\/+/).slice(1)) {
    if (segment === "..") depth -= 1;
    else if (segment !== "." && segment !== "") depth += 1;
    if (depth < 0) return true;
  }
  return false;
};

const decoded = (path: string): string =>
  path.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

export const refusedBy = (engine: Engine, target: string) => REFUSED[engine]?.find(([, , is]) => is(target));
