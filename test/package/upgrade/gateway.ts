import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Version } from "./versions.ts";

/** A gateway of some version on a state folder, by its own command and over HTTP. */

export const TOKEN = "an-operator-of-this-test-alone-0123456789";
const sha256Of = (value: string): string => createHash("sha256").update(value).digest("hex");
const key = (octet: number): string => Buffer.alloc(32, octet).toString("base64");

/** All secrets that a stored value may depend on. */
export const SETTINGS = {
  ADMIN_TOKENS: JSON.stringify([{ name: "ann", scope: "operator", sha256: sha256Of(TOKEN) }]),
  ORIGIN_SIGNING_KEYS: JSON.stringify([{ id: "a", key: key(7) }]),
  PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "2026", key: key(9) }], compatible: [] }),
  REPORT_SECONDS: "1",
  TABLE_REFRESH_SECONDS: "0.5",
  REQUEST_LOG: "off",
};

export interface Place {
  /** The current folder of commands. */
  readonly folder: string;
  readonly stateFolder: string;
  readonly settings: Readonly<Record<string, string>>;
}

export interface Listed {
  readonly revisions: readonly { readonly revision: number; readonly digest: string; readonly kind: string }[];
  readonly entries: readonly { readonly revision?: number }[];
}

export type Gateway = Awaited<ReturnType<typeof serve>>;
export type Pages = ReturnType<typeof gatewayAt>;

const env = (more: Readonly<Record<string, string>>) => ({
  PATH: process.env["PATH"] ?? "",
  NO_COLOR: "1",
  WRANGLER_SEND_METRICS: "false",
  ...more,
});

/** Runs a command to its end. */
export async function run({ program }: Version, folder: string, args: readonly string[], more = {}) {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env: env(more) });
  child.stdin.end();
  const ended = once(child, "close");
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, code: code as number | null };
}

/** Serves a build until `stop`. */
export async function serve(version: Version, build: string, { folder, stateFolder, settings }: Place) {
  const args = ["serve", build, "--state", stateFolder, "--listen", "127.0.0.1:0", "--stop-timeout", "5"];
  const child: ChildProcess = spawn(process.execPath, [version.program, ...args], {
    cwd: folder,
    env: env({ ...SETTINGS, ...settings }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stderr?.on("data", (chunk) => {
      printed += chunk;
      const found = /ready (http:\S+),/.exec(printed)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(printed)));
  });

  return {
    ...gatewayAt(url, version, folder),
    async stop(): Promise<void> {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = await ended;
      if (code !== 0) throw new Error(`it ended with ${code}`);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** The pages and the command of a gateway. */
export function gatewayAt(url: string, version: Version, folder: string) {
  const ask = (method: string, path: string, body?: string | object, fields: object = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...fields },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });

  const read = async (path: string): Promise<string> => {
    const answer = await ask("GET", path);
    const body = await answer.text();
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${body}`);
    return body;
  };

  return {
    ask,
    read,
    /** The command of the same version, at this gateway. */
    async command(...words: readonly string[]): Promise<string> {
      const access = { WAYBILL_GATEWAY: url, WAYBILL_TOKEN: TOKEN };
      const { code, stdout, stderr } = await run(version, folder, words, access);
      if (code !== 0) throw new Error(`waybill ${words.join(" ")}: ${code}\n${stdout}${stderr}`);
      return stdout;
    },
  };
}

/** Revisions with their texts, and the audit. */
export async function historyOf({ ask, read }: Pages) {
  const { revisions }: Listed = JSON.parse(await read("/-/table/revisions?limit=100"));
  const { entries }: Listed = JSON.parse(await read("/-/table/audit?limit=100"));
  const texts = await Promise.all(revisions.map(({ revision }) => read(`/-/table/revisions/${revision}`)));
  const table = await ask("GET", "/-/table");
  return {
    revisions,
    entries,
    texts,
    digestsOfTexts: texts.map(sha256Of),
    inForce: await table.text(),
    etag: table.headers.get("etag"),
  };
}

/** All counters, and the counts and sums of histograms, by their series. */
export async function countersOf({ read }: Pages): Promise<ReadonlyMap<string, number>> {
  const lines = (await read("/-/metrics")).split("\n");
  const types = new Map(lines.flatMap((line) => (line.startsWith("# TYPE ") ? [typeIn(line)] : [])));
  return new Map(
    lines.flatMap((line) => {
      const [, series = "", name = "", value] = /^((\w+)(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      const type = types.get(name) ?? types.get(name.replace(/_(?:bucket|sum|count)$/, ""));
      return type === "counter" || type === "histogram" ? [[series, Number(value)]] : [];
    }),
  );
}

const typeIn = (line: string): [string, string] => {
  const [, , name = "", type = ""] = line.split(" ");
  return [name, type];
};

/** Sum over all series of a counter. */
export const totalOf = (counters: ReadonlyMap<string, number>, name: string): number =>
  [...counters].reduce((sum, [series, value]) => (series.startsWith(`${name}{`) ? sum + value : sum), 0);
