import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { HOST_SETTINGS } from "../../../src/edge/config.ts";
import { SETTING_NAMES } from "../../../src/edge/settings.ts";
import { isConfinedUnit } from "./units.ts";

const read = (file: string) => readFileSync(`src/package/templates/own-servers/${file}`, "utf8");

/** The time that `serve` gives running requests by default. */
const STOP_SECONDS = 30;

const STATE = "/var/lib/waybill";

describe("the systemd unit", () => {
  const unit = read("deploy/waybill.service");
  const settings = new Map(
    unit.split("\n").flatMap((line) => {
      const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === "" ? [] : [[name, value] as const];
    }),
  );

  it("keeps the state, and waits longer than running requests may take", () => {
    expect(settings.get("ExecStart")).toMatch(
      /^\/usr\/bin\/node node_modules\/waybill\/dist\/cli\/main\.js serve build /,
    );
    expect(settings.get("ExecStart")).toContain(`--state ${STATE} `);
    expect(`/var/lib/${settings.get("StateDirectory")}`).toBe(STATE);
    expect(Number(settings.get("TimeoutStopSec"))).toBeGreaterThan(STOP_SECONDS);
    expect(settings.get("KillMode")).toBe("mixed");
    expect(settings.has("MemoryDenyWriteExecute")).toBe(false);
  });

  isConfinedUnit("waybill.service", unit);
});

describe("the image", () => {
  const steps = read("Dockerfile").replaceAll("\\\n", " ").split("\n");
  const argumentsOf = (step: string) => steps.find((line) => line.startsWith(`${step} `))?.slice(step.length + 1) ?? "";
  const compose = parse(read("compose.yaml"));
  const { gateway } = compose.services;

  it("runs Node itself as a user without rights", () => {
    const entry: readonly string[] = JSON.parse(argumentsOf("ENTRYPOINT"));
    expect(entry.slice(0, 4)).toEqual(["node", "node_modules/waybill/dist/cli/main.js", "serve", "build"]);
    expect(argumentsOf("USER")).toBe("10001:10001");
    expect(entry[entry.indexOf("--state") + 1]).toBe(STATE);
    expect(argumentsOf("VOLUME")).toBe(STATE);
    expect(steps.filter((line) => line.startsWith("RUN ")).join("\n")).toContain("npm ci --omit=dev --ignore-scripts");
  });

  it("is asked for its health where it listens", () => {
    const port = argumentsOf("EXPOSE");
    const entry: readonly string[] = JSON.parse(argumentsOf("ENTRYPOINT"));
    const health: readonly string[] = JSON.parse(argumentsOf("HEALTHCHECK").replace(/^.*?CMD /, ""));
    expect(entry.at(-1)).toBe(`0.0.0.0:${port}`);
    expect(health.slice(2)).toEqual(["health", `http://127.0.0.1:${port}`]);
    expect(gateway.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  });

  it("is composed with a root that is read-only, its state in a volume, and time to stop", () => {
    expect(gateway).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
    expect(gateway.volumes).toEqual([`state:${STATE}`]);
    expect(Object.keys(compose.volumes)).toEqual(["state"]);
    expect(Number.parseInt(gateway.stop_grace_period, 10)).toBeGreaterThan(STOP_SECONDS);
    expect(() => read(gateway.env_file)).not.toThrow();
  });

  it("takes nothing but the table and what is installed", () => {
    const [first, ...kept] = read(".dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(first).toBe("*");
    expect(kept.filter((line) => !line.startsWith("!"))).toEqual([]);
    expect(kept.filter((line) => /env|deploy|git/.test(line))).toEqual([]);
  });
});

describe("the file of settings", () => {
  it("names settings that there are, and sets none", () => {
    const text = read("deploy/settings.env");
    const named = [...text.matchAll(/^#?([A-Z_]+)=/gm)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => ![...SETTING_NAMES, ...HOST_SETTINGS].includes(name))).toEqual([]);
    expect(text).not.toMatch(/^[A-Z_]+=/m);
  });
});
