import type { PublicIdOpener } from "../../features/public-ids/table/reading.ts";
import { decideId } from "../../gateway/decide.ts";
import type { CompiledTable } from "../../routing/index.ts";
import { ID_LENGTH_MAX } from "../../routing/limits.ts";
import {
  formatFailure,
  GATEWAY_OPTIONS,
  gatewayAddress,
  readObject,
  sendRequest,
  TOKEN_VARIABLE,
} from "../client/http.ts";
import { command, option, withDefault } from "../command.ts";
import { linesOf, oneOf, openInput } from "../lib/input.ts";
import { openTable } from "../lib/open-table.ts";
import { counted, countOf, escapeControls, formatCount, startProgress } from "../lib/output.ts";
import { EXIT, fail, misuse, type Runtime } from "../runtime.ts";
import { openerOf } from "./public-id.ts";

/** Where an ID belongs, or the slug of the problem. `canary`: the revision of the canary that decided. */
interface Place {
  readonly id: string;
  readonly region?: string;
  readonly entity?: string;
  readonly layout?: string;
  readonly problem?: string;
  readonly canary?: number;
}

const formatOf = oneOf(["tsv", "csv", "ndjson"], "It must be tsv, csv or ndjson.");

type Format = ReturnType<typeof formatOf>;

/** As many as the gateway takes at once. */
const BATCH_IDS_MAX = 1_000;

export const locate = command({
  name: "locate",
  description: "print the region of every ID of a file, by a table or by a gateway",
  args: [["<file>", "IDs, one per line, as many as you like; - reads them from stdin"]],
  options: [
    option("--table <file>", "the routing table (default: routing-table.json)"),
    withDefault<"--format <name>", Format>("--format <name>", "tsv, csv or ndjson", "tsv", formatOf),
    option("--json", "the same as --format ndjson: one JSON object per ID"),
    option("--only-problems", "print the IDs without a region alone"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill locate ids.txt --table routing-table.json > regions.tsv
  $ waybill locate - --format csv < ids.txt
  $ waybill locate ids.txt --gateway https://api.example.com --only-problems

Columns: id, region, entity, layout, problem, canary (its revision). A summary by region follows on stderr.
With --gateway the gateway is asked, ${formatCount(BATCH_IDS_MAX)} IDs at a time; no origin is. It reads directories, which a table alone
cannot. Public IDs are read with the keys in PUBLIC_ID_KEYS, or by the gateway. A rate limit is waited for. A token is read only
from ${TOKEN_VARIABLE}.
Exit code: 0 if every ID has a region, else 1.`,
  run: async (runtime, [path = ""], options) => {
    if (options.gateway !== undefined && options.table !== undefined) {
      misuse("error: use --table or --gateway, not both\n");
    }
    const format = options.json ? "ndjson" : options.format;
    const find = options.gateway === undefined ? await byTable(options.table, runtime) : byGateway(options, runtime);
    const input = await openInput(path, runtime);
    const progress = startProgress({ label: input.name, bytes: input.bytes }, runtime);
    const tally = new Map<string, number>();
    const problems = new Map<string, number>();
    let count = 0;
    const show = async (places: readonly Place[]): Promise<void> => {
      for (const { region, problem = "" } of places) {
        const [sums, name] = region === undefined ? [problems, problem] : [tally, region];
        sums.set(name, (sums.get(name) ?? 0) + 1);
      }
      count += places.length;
      const shown = options.onlyProblems ? places.filter(({ problem }) => problem !== undefined) : places;
      if (runtime.isReportWatched && runtime.isWatched) progress.clear();
      if (shown.length > 0) await runtime.print(shown.map((place) => lineOf(place, format)).join(""));
    };
    if (format !== "ndjson") await runtime.print(rowOf(COLUMNS, format));
    let batch: string[] = [];
    try {
      for await (const line of linesOf(counted(input.chunks, progress))) {
        if (!line.ok) fail(`error: line ${line.error} of ${escapeControls(input.name)} is too long for an ID\n`);
        const id = line.value.trim();
        if (id === "") continue;
        if (batch.push(id) < BATCH_IDS_MAX) continue;
        await show(await find(batch));
        batch = [];
      }
      if (batch.length > 0) await show(await find(batch));
    } finally {
      progress.clear();
    }
    if (count === 0) fail(`error: ${escapeControls(input.name)} has no ID\n`);
    runtime.report(
      `${countOf(count, "ID")}: ${summaryOf(tally)}${problems.size > 0 ? `; ${summaryOf(problems)}` : ""}\n`,
    );
    return problems.size === 0 ? EXIT.ok : EXIT.failed;
  },
});

/** Greatest first. */
const summaryOf = (counts: ReadonlyMap<string, number>): string => {
  const parts = [...counts].sort(([, a], [, b]) => b - a).map(([name, each]) => `${name} ${formatCount(each)}`);
  return escapeControls(parts.join(", ")) || "no region";
};

const COLUMNS = ["id", "region", "entity", "layout", "problem", "canary"] as const;

const lineOf = (place: Place, format: Format): string =>
  format === "ndjson"
    ? `${JSON.stringify(place)}\n`
    : rowOf(
        COLUMNS.map((name) => `${place[name] ?? ""}`),
        format,
      );

const rowOf = (cells: readonly string[], format: Format): string =>
  format === "csv" ? `${cells.map(csvCell).join(",")}\n` : `${cells.map(escapeControls).join("\t")}\n`;

/** RFC 4180 §2. */
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

type Find = (ids: readonly string[]) => Promise<readonly Place[]>;

async function byTable(path: string | undefined, runtime: Runtime): Promise<Find> {
  const table = await openTable(path, runtime);
  if (table === undefined) return misuse("error: no routing-table.json here; use --table or --gateway\n");
  const publicIds = openerOf(runtime);
  return async (ids) => ids.map((id) => placeBy(table, id, publicIds, runtime.nowMs()));
}

function placeBy(table: CompiledTable, id: string, publicIds: PublicIdOpener, nowMs: number): Place {
  if (id.length > ID_LENGTH_MAX || id.includes("/")) return { id, problem: "malformed-id" };
  const input = { tables: { table, canary: undefined }, ports: { publicIds }, layoutName: undefined, nowMs };
  const outcome = decideId(input, id);
  if (outcome.kind === "region") {
    const { entity, layout, target } = outcome.decision;
    return { id, region: target.region.name, entity: entity.name, layout };
  }
  // The answer of a directory is in no table.
  if (outcome.kind === "load") return { id, problem: "directory-unavailable" };
  return { id, problem: outcome.kind === "error" ? outcome.error.reason : "unknown-id" };
}

/** Most waits for a rate limit. */
const WAITS_MAX = 100;

function byGateway(options: Parameters<typeof gatewayAddress>[0], runtime: Runtime): Find {
  const address = gatewayAddress(options, runtime);
  if (!address.ok) return misuse(address.error);
  return async (ids) => {
    const sent = ids.filter((id) => id.length <= ID_LENGTH_MAX);
    const found = sent.length === 0 ? [] : await ask(address.value, sent, runtime);
    let next = 0;
    return ids.map((id) => {
      const place = id.length <= ID_LENGTH_MAX ? found[next++] : undefined;
      return { ...(place ?? { problem: "malformed-id" }), id };
    });
  };
}

async function ask(
  address: Parameters<typeof sendRequest>[0],
  ids: readonly string[],
  runtime: Runtime,
): Promise<readonly Omit<Place, "id">[]> {
  const request = {
    method: "POST",
    path: "/any?locate=true",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ids),
  } as const;
  for (let waits = 0; ; waits++) {
    const answer = await sendRequest(address, request, runtime);
    if (answer.ok) {
      const results = readObject(answer.value.bytes)?.["results"];
      if (Array.isArray(results) && results.length === ids.length) return results.map(placeOf);
      return fail(`error: ${escapeControls(address.url)} answers with something else than the places of these IDs\n`);
    }
    const { error } = answer;
    const seconds = error.reason === "problem" ? error.problem.retryAfterSeconds : undefined;
    if (seconds === undefined || waits >= WAITS_MAX) return fail(formatFailure(address.url, error));
    await runtime.pause(seconds * 1000);
  }
}

const placeOf = (result: Readonly<Record<string, unknown>>): Omit<Place, "id"> => {
  const problem = (result["problem"] as { readonly type?: unknown } | undefined)?.type;
  const texts = (["region", "entity", "layout", "canary"] as const).flatMap((name) =>
    typeof result[name] === (name === "canary" ? "number" : "string") ? [[name, result[name]] as const] : [],
  );
  const slug = typeof problem === "string" ? { problem: problem.slice(problem.lastIndexOf("/") + 1) } : {};
  return { ...Object.fromEntries(texts), ...slug };
};
