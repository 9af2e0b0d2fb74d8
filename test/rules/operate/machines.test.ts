import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readMembers } from "../../../src/host/machines/members.ts";
import { readOptions } from "../../../src/host/machines/options.ts";
import { isConfinedUnit } from "./units.ts";

/** Units, files and compositions of the page on clusters. */

const FOLDER = "docs/examples/machines";
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, "utf8");
const ROLES = ["state", "edge"] as const;
/** As `serve` has them: it must end before its service manager kills it. */
const STOP_SECONDS = { state: 15, edge: 30 };
const optionsOf = (members: object, text: string, path: string) => {
  const given = readMembers(members, { path, text, resolve: (each) => `/etc/waybill/${each}` });
  return given.ok ? readOptions(given.value) : given;
};

/** Flags of a command line by their names in the file. */
const membersIn = (words: readonly string[]) =>
  Object.fromEntries(
    words
      .join(" ")
      .split(/(?:^| )--/)
      .slice(1)
      .map((flag) => {
        const [, name = "", value = ""] = /^([a-z-]+)[= ](.*)$/.exec(flag) ?? [];
        const member = name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
        return [member, member === "stateNodes" ? value.split(",") : member === "processes" ? Number(value) : value];
      }),
  );

describe.each(ROLES)("the file and the unit: %s", (role) => {
  const unit = read(`waybill-${role}.service`);
  const settings = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);

  it("has options that serve takes, and the unit's as well", () => {
    expect(optionsOf({}, read(`${role}.json`), `${role}.json`)).toMatchObject({ ok: true, value: { role } });
    const [line = ""] = settings("ExecStart");
    const { config, ...flags } = membersIn(line.split(" "));
    expect(config).toBe(`/etc/waybill/${role}.json`);
    expect(optionsOf(flags, read(`${role}.json`), `${role}.json`)).toMatchObject({
      ok: true,
      value: { role, stateFolder: `/var/lib/waybill-${role}`, tlsFolder: "%d" },
    });
  });

  it("keeps secrets from others, waits for requests and objects, and starts again without end", () => {
    const [line = ""] = settings("ExecStart");
    const credentials = settings("LoadCredential").map((text) => text.split(":")[0]);
    for (const name of ["ca.pem", "cert.pem", "key.pem"]) expect(credentials).toContain(name);
    const used = [...unit.matchAll(/%d\/([\w.-]+)/g)].map(([, name]) => name);
    expect(credentials).toEqual(expect.arrayContaining(used));
    expect(line).not.toContain("/etc/waybill/tls");
    expect(Number(settings("TimeoutStopSec")[0])).toBeGreaterThan(STOP_SECONDS[role]);
    expect(settings("StartLimitIntervalSec")).toEqual(["0"]);
    expect(`/var/lib/${settings("StateDirectory")[0]}`).toBe(`/var/lib/waybill-${role}`);
  });

  isConfinedUnit(`waybill-${role}.service`, unit);

  it("is composed with a root that is read-only, secrets as files, and time to stop", () => {
    const { services, secrets, volumes } = parse(read(`compose.${role}.yaml`));
    const service = services[role];
    expect(service).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"], restart: "always" });
    expect(service.secrets).toEqual(Object.keys(secrets));
    expect(Object.keys(volumes)).toEqual([role]);
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(STOP_SECONDS[role]);
    const { config, ...flags } = membersIn(service.command);
    const text = config === undefined ? "{}" : read("state.json");
    expect(optionsOf(flags, text, "state.json")).toMatchObject({ ok: true, value: { role } });
  });
});
