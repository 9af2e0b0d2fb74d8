import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { err, ok, type Result } from "../../ids/index.ts";
import { endWithParent } from "../child.ts";
import type { Lack } from "./requirements.ts";
import { lacksOf } from "./requirements.ts";

/** wrangler's own order. */
const CONFIG_FILES = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** The configuration in the working folder; `undefined` if there is none. */
export const foundConfig = (): string | undefined => CONFIG_FILES.find(existsSync);

export interface Wrangler {
  /** The JavaScript that Node runs: on Windows the command in `.bin` is none that can be started without a shell. */
  readonly program: string;
  readonly version: string;
}

interface Manifest {
  readonly version: string;
  readonly bin: { readonly wrangler: string };
  readonly engines?: { readonly node?: string };
}

const NOT_INSTALLED = "wrangler is not installed here: npm install --save-dev wrangler";

/**
 * Projects of `init` ask for it or a later one. No manifest of the package names it: npm installs a dependency for development with
 * `--omit=dev` as well where a package names it as an optional peer.
 */
const OLDEST = "4.164.0";

/** The wrangler of a project's folder, or of one above it. The error says how to get one that runs. */
export function findWrangler(folder: string, node = process.versions.node): Result<Wrangler, string> {
  const path = resolveFrom(folder, "wrangler/package.json");
  if (path === undefined) return err(NOT_INSTALLED);
  const { version, bin, engines }: Manifest = JSON.parse(readFileSync(path, "utf8"));
  if (isOlder(version, OLDEST))
    return err(`wrangler ${version} is older than ${OLDEST}: npm install --save-dev wrangler@^${OLDEST}`);
  const [, needed] = /^>=\s*(\d+(?:\.\d+)*)$/.exec(engines?.node ?? "") ?? [];
  if (needed !== undefined && isOlder(node, needed))
    return err(
      `wrangler ${version} needs Node ${needed} or later, and this is ${node}. Deploy with a newer Node; the gateway itself needs none.`,
    );
  return ok({ program: join(dirname(path), bin.wrangler), version });
}

function resolveFrom(folder: string, specifier: string): string | undefined {
  try {
    return createRequire(join(folder, "package.json")).resolve(specifier);
  } catch {
    return undefined;
  }
}

function isOlder(version: string, needed: string): boolean {
  const [given, least] = [version, needed].map((text) => text.split(".").map(Number));
  for (const at of [0, 1, 2]) {
    const difference = (given?.[at] ?? 0) - (least?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Keeps wrangler quiet. The caller's environment overrides these. */
const QUIET = { WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };

/** It gets the signals of this process, and ends with it. */
export function startWrangler({ program }: Wrangler, args: readonly string[], stdio: "inherit" | "pipe"): ChildProcess {
  const options = { env: { ...QUIET, ...process.env }, stdio, windowsHide: true };
  const child = spawn(process.execPath, [program, ...args], options);
  endWithParent(child);
  const pass = (signal: NodeJS.Signals) => void child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, pass);
  child.once("close", () => {
    for (const signal of signals) process.off(signal, pass);
  });
  return child;
}

export interface ReadConfig {
  readonly vars: Readonly<Record<string, unknown>>;
  /** Names of rate limit bindings. */
  readonly limits: readonly string[];
  readonly lacks: readonly Lack[];
  readonly environments: readonly string[];
  /** As the file has it, without defaults. */
  readonly raw: object;
}

/** The project's own, which a package manager may hide from the packages beside it; else the command's. */
async function loadWrangler(): Promise<Result<typeof import("wrangler"), string>> {
  try {
    const path = resolveFrom(process.cwd(), "wrangler");
    return ok(await (path === undefined ? import("wrangler") : import(pathToFileURL(path).href)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND") return err(`${NOT_INSTALLED}; it needs Node 22 or later`);
    return err(`wrangler does not load: ${message}. It needs Node 22 or later`);
  }
}

/** Reads a configuration as wrangler does; the error has its words. `env`: one of its environments. */
export async function readWranglerConfig(path: string, env: string | undefined): Promise<Result<ReadConfig, string>> {
  const library = await loadWrangler();
  if (!library.ok) return library;
  try {
    const config = library.value.unstable_readConfig({ config: path, env }, { hideWarnings: true });
    return ok({
      vars: config.vars,
      limits: (config.ratelimits ?? []).map(({ name }: { readonly name: string }) => name),
      lacks: lacksOf(config),
      environments: config.definedEnvironments ?? [],
      raw: library.value.experimental_readRawConfig({ config: path }).rawConfig,
    });
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}
