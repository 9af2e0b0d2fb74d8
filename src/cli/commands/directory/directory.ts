import * as v from "valibot";
import { unreachable } from "../../../features/directory/table/normalise.ts";
import {
  answerOf,
  GATEWAY_HELP,
  GATEWAY_OPTIONS,
  type GatewayRequest,
  type GatewayResponse,
  readObject,
} from "../../client/http.ts";
import { command, type OptionsOf, option, required } from "../../command.ts";
import { countingNumber, duration, wholeNumber } from "../../lib/input.ts";
import { alignColumns, countOf, escapeControls, jsonText, linesText } from "../../lib/output.ts";
import { EXIT, type ExitCode, fail, misuse, type Runtime } from "../../runtime.ts";
import { type DirectoryClient, openDirectory } from "./client.ts";

/** A later gateway may send more. */
const ENTRY = v.looseObject({
  directory: v.string(),
  key: v.string(),
  region: v.string(),
  state: v.string(),
  version: v.number(),
  changedAt: v.string(),
  owner: v.optional(v.string()),
  leaseUntil: v.optional(v.string()),
  missingSince: v.optional(v.string()),
});
type Entry = v.InferOutput<typeof ENTRY>;

const ENTRIES = v.looseObject({ keys: v.array(ENTRY), next: v.optional(v.string()) });

const unreadable = ({ url }: DirectoryClient): never =>
  fail(`error: ${escapeControls(url)} gives an answer that this command cannot read; their versions may differ\n`);

const entryOf = (client: DirectoryClient, { bytes }: GatewayResponse): Entry => {
  const entry = v.safeParse(ENTRY, readObject(bytes));
  return entry.success ? entry.output : unreadable(client);
};

/** Fails for half a surrogate pair. */
const encoded = (key: string): string => {
  try {
    return encodeURIComponent(key);
  } catch {
    return misuse("error: the key has half a surrogate pair\n");
  }
};

/** A key with slashes has a path where the directory's keys may have them. */
const pathOf = async (client: DirectoryClient, key: string): Promise<string> =>
  isReachable(key) || (unreachable(key, true) === undefined && (await mayHaveSlashes(client)))
    ? `/${encoded(key)}`
    : fail(
        `error: no path leads to the key ${escapeControls(key)}; no new key of this directory may have / or \\, or be one or two dots\n`,
      );

const mayHaveSlashes = async (client: DirectoryClient): Promise<boolean> => {
  const form = await client.keyForm();
  return form !== undefined && "text" in form && form.slash === true;
};

/** To read or remove what is there: a key with slashes, too, and a former version stored keys that no path has. */
const addressOf = (key: string): string => (isReachable(key) ? `/${encoded(key)}` : `?key=${encoded(key)}`);

/** No URL has a segment of one or two dots, however they are encoded (WHATWG URL §4.1). */
const isReachable = (key: string): boolean => key !== "" && unreachable(key) === undefined;

const ARGS = [
  ["<directory>", "as the table names it"],
  ["<key>", "in any spelling of its form"],
] as const;
const SHARED = [option("--json", "the key as one line of JSON"), ...GATEWAY_OPTIONS] as const;

const rowsOf = (entry: Entry): readonly string[][] =>
  (["key", "region", "state", "owner", "leaseUntil", "missingSince", "changedAt", "version"] as const).flatMap(
    (name) => (entry[name] === undefined ? [] : [[LABELS[name] ?? name, String(entry[name])]]),
  );
const LABELS: Readonly<Record<string, string>> = {
  leaseUntil: "lease until",
  missingSince: "missing since",
  changedAt: "changed",
};

const show = async (entry: Entry, json: boolean | undefined, runtime: Runtime): Promise<ExitCode> => {
  await runtime.print(json ? jsonText(entry) : linesText(alignColumns(rowsOf(entry))));
  return EXIT.ok;
};

export const directoryGet = command({
  name: "get",
  description: "show a key as its object has it",
  args: ARGS,
  options: SHARED,
  help: `
Examples:
  $ waybill directory get slug ada-books

${GATEWAY_HELP}
Exit code: 0, or 1 if there is no such key.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    return show(await read(client, key), options.json, runtime);
  },
});

const read = async (client: DirectoryClient, key: string): Promise<Entry> =>
  entryOf(client, await client.insist({ method: "GET", path: addressOf(key) }));

const CLAIM = [required("--owner <id>", "what the key names: the entity's ID")] as const;
const OPERATION = required("--operation <id>", "as the reservation printed it");

const claim = (path: string, body: object): GatewayRequest => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

export const directoryReserve = command({
  name: "reserve",
  description: "reserve a key for an owner: the first of two phases of a claim",
  args: ARGS,
  options: [
    ...CLAIM,
    required("--region <name>", "where the entity is or will be"),
    option("--lease <duration>", "how long the reservation holds, up to 1h (default: 5m)", duration),
    option("--operation <id>", "the claim's own ID, for a retry (default: a random one, which is printed)"),
    ...SHARED,
  ],
  help: `
Examples:
  $ waybill directory reserve slug ada-books --owner 42 --region eu
  $ waybill directory confirm slug ada-books --owner 42 --operation …

A key routes once it is confirmed. The same owner may reserve it again.
${GATEWAY_HELP}
Exit code: 0, or 1 if the key is taken or reserved by another owner.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const operation = options.operation ?? randomOperation(runtime);
    const { owner, region, lease, json } = options;
    if (lease !== undefined && lease % 1000 !== 0) misuse("error: a lease is a number of whole seconds (--lease)\n");
    const leaseSeconds = lease === undefined ? {} : { leaseSeconds: lease / 1000 };
    const body = { action: "reserve", owner, operation, region, ...leaseSeconds };
    const entry = entryOf(client, await client.insist(claim(await pathOf(client, key), body)));
    if (json) await runtime.print(jsonText({ ...entry, operation }));
    else {
      await show(entry, json, runtime);
      await runtime.print(`operation    ${operation}\n`);
    }
    return EXIT.ok;
  },
});

const randomOperation = ({ entropy }: Runtime): string =>
  `cli-${Array.from({ length: 4 }, () => entropy.word().toString(16).padStart(8, "0")).join("")}`;

export const directoryConfirm = command({
  name: "confirm",
  description: "confirm a reserved key: it routes from now on",
  args: ARGS,
  options: [...CLAIM, OPERATION, ...SHARED],
  help: `
${GATEWAY_HELP}
Exit code: 0, or 1 if the reservation is not there any more.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const { owner, operation } = options;
    const answer = await client.insist(claim(await pathOf(client, key), { action: "confirm", owner, operation }));
    return show(entryOf(client, answer), options.json, runtime);
  },
});

export const directoryRelease = command({
  name: "release",
  description: "end a reservation",
  args: ARGS,
  options: [...CLAIM, OPERATION, option("--json", "the key as one line of JSON"), ...GATEWAY_OPTIONS],
  help: `
${GATEWAY_HELP}
Exit code: 0, or 1 if the key is confirmed.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const { owner, operation, json } = options;
    await client.insist(claim(await pathOf(client, key), { action: "release", owner, operation }));
    if (json) await runtime.print(jsonText({ key, state: "free", operation }));
    else runtime.report("released\n");
    return EXIT.ok;
  },
});

const CHANGE = [
  option("--expect <version>", "only if the key is at this version (default: the one that is read first)", wholeNumber),
  option("--dry-run", "show the key as it is, and change nothing"),
  ...SHARED,
] as const;

/** One attempt: after a lost answer a second one would be told that the version is old. */
const change = async (
  client: DirectoryClient,
  key: string,
  options: OptionsOf<typeof CHANGE>,
  request: Pick<GatewayRequest, "method" | "body">,
): Promise<GatewayResponse> => {
  const version = options.expect ?? (await read(client, key)).version;
  const headers = { "content-type": "application/json", "if-match": `"${version}"` };
  const path = request.method === "DELETE" ? addressOf(key) : await pathOf(client, key);
  return answerOf(client, await client.send({ ...request, path, headers }));
};

export const directoryMove = command({
  name: "move",
  description: "move a key to another region",
  args: ARGS,
  options: [required("--to <region>", "where its entity is now"), ...CHANGE],
  help: `
Examples:
  $ waybill directory move slug ada-books --to us

Other locations have the former region for as long as the table says (cacheSeconds), or for a minute where a copy is in force.
${GATEWAY_HELP}
Exit code: 0, or 1 if the key is not there or was changed meanwhile.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    if (options.dryRun) return show(await read(client, key), options.json, runtime);
    const moved = await change(client, key, options, { method: "PUT", body: JSON.stringify({ region: options.to }) });
    return show(entryOf(client, moved), options.json, runtime);
  },
});

export const directoryDelete = command({
  name: "delete",
  description: "remove a key",
  args: ARGS,
  options: CHANGE,
  help: `
${GATEWAY_HELP}
Exit code: 0, or 1 if the key is not there or was changed meanwhile.`,
  run: async (runtime, [directory = "", key = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const before = await read(client, key);
    if (!options.dryRun) await change(client, key, { expect: before.version, ...options }, { method: "DELETE" });
    await show(before, options.json, runtime);
    runtime.report(options.dryRun ? "nothing was removed\n" : "removed\n");
    return EXIT.ok;
  },
});

export const directoryOrphans = command({
  name: "orphans",
  description: "list reservations that nothing ended, and keys whose entity an origin reports missing",
  args: [["<directory>", "as the table names it"]],
  options: [
    option("--limit <number>", "how many at most (default: all)", countingNumber),
    option("--json", "each key as a line of JSON"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill directory orphans slug

${GATEWAY_HELP}
Exit code: 0, or 2 if there are any.`,
  run: async (runtime, [directory = ""], options) => {
    const client = openDirectory(directory, options, runtime);
    const { limit = Number.POSITIVE_INFINITY, json } = options;
    let count = 0;
    for (let after: string | undefined = ""; after !== undefined && count < limit; ) {
      const query: string = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
      const answer = await client.insist({
        method: "GET",
        path: `?only=orphans&limit=${Math.min(1000, limit - count)}${query}`,
      });
      const page = v.safeParse(ENTRIES, readObject(answer.bytes));
      if (!page.success) return unreadable(client);
      const { keys, next } = page.output;
      const rows = keys.map(({ key, state, region, owner = "", changedAt }) => [key, state, region, owner, changedAt]);
      await runtime.print(json ? jsonText(...keys) : linesText(alignColumns(rows)));
      count += keys.length;
      after = next;
    }
    if (!json) runtime.report(`${countOf(count, "orphan")}\n`);
    return count > 0 ? EXIT.differs : EXIT.ok;
  },
});
