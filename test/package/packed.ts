import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

/** The packages as `npm run pack` leaves them. */

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const PACKAGES = ["waybill", "waybill-ids", "create-waybill"] as const;

export interface Packed {
  /** Its name, as a folder and in the tarball's. */
  readonly name: (typeof PACKAGES)[number];
  readonly folder: string;
  readonly tarball: string;
  readonly manifest: {
    readonly name: string;
    readonly version: string;
    readonly bin?: Readonly<Record<string, string>>;
    readonly exports?: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly [member: string]: unknown;
  };
}

const WAIT_MS_MAX = 170_000;

/** The packages of this run of tests, which is made once: it takes a quarter of a minute. They are for reading alone. */
export async function packOnce(): Promise<readonly Packed[]> {
  const folder = inject("packedFolder");
  const whole = join(folder, "packages");
  // Files run beside each other: the first one packs, and the others wait.
  if (mkdirSync(join(folder, "begun"), { recursive: true }) !== undefined) {
    packAll(join(folder, "unfinished"));
    renameSync(join(folder, "unfinished"), whole);
  }
  const deadlineMs = Date.now() + WAIT_MS_MAX;
  while (!existsSync(whole)) {
    if (Date.now() > deadlineMs) throw new Error("the packages were not packed, see the test that began with it");
    await setTimeout(100);
  }
  return packedIn(whole);
}

/** `into`: an empty folder. `flags` are those of `npm run pack`. */
export function packAll(into: string, ...flags: readonly string[]): readonly Packed[] {
  execFileSync(process.execPath, ["src/host/run.mjs", "src/package/pack.ts", "--out", into, ...flags], { cwd: ROOT });
  return packedIn(into);
}

function packedIn(into: string): readonly Packed[] {
  return PACKAGES.map((name) => {
    const folder = join(into, name);
    const manifest: Packed["manifest"] = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { name, folder, tarball: join(into, `${name}-${manifest.version}.tgz`), manifest };
  });
}

/** The files of a tarball, without the folder that each tarball has. */
export const filesOf = ({ tarball }: Packed): readonly string[] =>
  execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" })
    .trimEnd()
    .split("\n")
    .map((path) => path.replace(/^package\//, ""));

/** Scripts of a folder, by their names. */
export const scriptsIn = (folder: string): readonly (readonly [name: string, text: string])[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".js"))
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);

/** A Node 20 of this machine, if it has one. `installed.slow.test.ts` fetches the oldest that is supported. */
export function findNode20(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders
    .map((folder) => join(folder, "node"))
    .find((node) => {
      try {
        return execFileSync(node, ["--version"], { encoding: "utf8" }).startsWith("v20.");
      } catch {
        return false;
      }
    });
}
