import {
  type ExplainedRequest,
  explainRequest,
  type RequestText,
  wholeRequest,
} from "../../../features/places/serve/explain.ts";
import { type CanaryMember, tableCanaryInWords } from "../../../formats/console-canary.ts";
import { err, ok } from "../../../ids/index.ts";
import { problemOf } from "../../../problems/index.ts";
import type { CompiledTable } from "../../../routing/index.ts";
import { groupBy } from "../../../routing/layouts/plan.ts";
import type { SourceStep } from "../../../routing/resolve/region-sources.ts";
import { parseJson, parseUniqueJson } from "../../../routing/schema/json-scanner.ts";
import type { openGateway } from "../../client/client.ts";
import { ADDRESS_VARIABLE, answerOf } from "../../client/http.ts";
import { type OptionsOf, option } from "../../command.ts";
import { malformed } from "../../lib/errors.ts";
import { objectOf } from "../../lib/json-values.ts";
import { alignColumns, escapeControls, indented, jsonText, linesText, shellWord } from "../../lib/output.ts";
import { readBytes } from "../../lib/table-file.ts";
import { EXIT, type ExitCode, misuse, type Runtime } from "../../runtime.ts";
import { openerOf } from "../public-id.ts";

/** `waybill explain --url …`: where a whole request would go. */

const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), text];

export const REQUEST_OPTIONS = [
  option("--url <url>", "explain a whole request: a path, or a URL with its host"),
  option("--method <method>", "its method (default: GET, or POST with a body)"),
  option("--header <field>", "a header of it, such as 'x-order-id: 17'; may be repeated", collect),
  option("--body <text>", "its body; JSON needs no content-type"),
  option("--body-file <file>", "its body from a file; - is stdin"),
  option("--claims <json>", "the claims of its token, which is not verified here"),
  option("--client-country <code>", "where its client is, ISO 3166-1 alpha-2"),
  option("--client-continent <code>", "the same, as a continent"),
] as const;

type RequestOptions = OptionsOf<typeof REQUEST_OPTIONS>;

/** Whether options of a request are given without its URL. */
export const lacksUrl = ({ url, method, header, body, bodyFile, claims }: RequestOptions): boolean =>
  url === undefined && [method, header, body, bodyFile, claims].some((given) => given !== undefined);

type GivenOptions = RequestOptions & { readonly layout?: string; readonly json?: boolean };

type GatewayClient = ReturnType<typeof openGateway>;

export async function explainUrl(
  runtime: Runtime,
  options: GivenOptions,
  by: CompiledTable | GatewayClient | undefined,
): Promise<ExitCode> {
  const given = await givenRequest(runtime, options);
  if (by === undefined) return misuse("error: a request needs a routing table; use --table or --gateway\n");
  const explained =
    "explainRequest" in by ? await askGateway(by, given, options) : explainHere(runtime, by, given, options);
  const { method, url } = given;
  const { problem } = explained;
  await runtime.print(options.json ? jsonText(explained) : formatRequest(method, url, explained, runtime.paint));
  const isUnread = !("explainRequest" in by) && problem?.type.endsWith("/directory-unavailable") === true;
  if (problem !== undefined && !options.json)
    runtime.report(
      `error: ${escapeControls(problem.detail)}${remedyOf(problem)}\n${isUnread ? askGatewayHint(runtime) : ""}`,
    );
  return problem === undefined ? EXIT.ok : EXIT.failed;
}

/** For what only a running gateway knows. */
export const askGatewayHint = ({ env }: Pick<Runtime, "env">): string => {
  const address = env(ADDRESS_VARIABLE);
  return address
    ? `with --gateway ${shellWord(escapeControls(address))} this command asks it\n`
    : "with --gateway and the address of a running gateway this command asks it\n";
};

/** The names or methods that would do: over HTTP they are in members of their own. */
function remedyOf({ allow, known, more }: NonNullable<Shown["problem"]>): string {
  if (Array.isArray(allow) && allow.length > 0) return ` Allowed: ${allow.join(", ")}.`;
  return Array.isArray(known) && known.length > 0
    ? ` It has: ${known.join(", ")}${more === undefined ? "" : ` and ${more} more`}.`
    : "";
}

/** The request that the options describe. */
async function givenRequest(runtime: Runtime, options: GivenOptions): Promise<RequestText> {
  const { url = "", clientCountry: country, clientContinent: continent } = options;
  const headers = (options.header ?? []).map(headerOf);
  if (options.layout !== undefined) headers.push(["id-layout", options.layout]);
  if (options.body !== undefined && options.bodyFile !== undefined) malformed("Give --body or --body-file.");
  const body =
    options.bodyFile === undefined
      ? new TextEncoder().encode(options.body ?? "")
      : await readBytes(options.bodyFile, runtime);
  const hasType = headers.some(([name]) => name === "content-type");
  if (!hasType && parseJson(new TextDecoder().decode(body)) !== undefined)
    headers.push(["content-type", "application/json"]);
  const method = options.method?.toUpperCase() ?? (body.length > 0 ? "POST" : "GET");
  return { method, url, headers, body, country, continent };
}

async function askGateway(gateway: GatewayClient, given: RequestText, { claims }: GivenOptions): Promise<Shown> {
  if (claims !== undefined) malformed("A gateway reads the token of --header; it takes no --claims.");
  const headers = Object.fromEntries(
    [...groupBy(given.headers, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]),
  );
  const sent = { ...given, headers, body: new TextDecoder().decode(given.body) };
  return answerOf(gateway, await gateway.explainRequest(sent)) as unknown as Shown;
}

function explainHere(runtime: Runtime, table: CompiledTable, given: RequestText, options: GivenOptions): Shown {
  const request = wholeRequest(given, claimsOf(options, given.headers));
  if (request === undefined) return malformed("--url is a path, or a URL with a host.");
  const input = {
    tables: { table, canary: undefined },
    ports: { publicIds: openerOf(runtime) },
    layoutName: options.layout,
    nowMs: runtime.nowMs(),
  };
  const here = explainRequest(input, { ...request, host: request.host === "" ? "localhost" : request.host });
  // Only a gateway can look up keys in directories.
  const known = here.kind === "load" ? { places: [], ids: [], problem: problemOf(here.error) } : here;
  const { kind: _, byCanary: __, ...shown } = { kind: "", byCanary: false, ...known };
  return shown;
}

/** Problems of reading: they end it before all places are read. */
const UNREAD = /\/(?:id-unreadable|id-not-in-time|malformed-request|unauthenticated|authentication-unavailable)$/;

type Shown = Omit<ExplainedRequest, "kind" | "byCanary"> & CanaryMember;

function headerOf(field: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(field) ?? [];
  if (name === undefined || value === undefined) return malformed(`${JSON.stringify(field)} is no header (--header).`);
  return [name.toLowerCase(), value];
}

/** A token is believed where `--claims` says what it holds. */
function claimsOf({ claims }: RequestOptions, headers: readonly (readonly [string, string])[]) {
  if (claims === undefined) {
    const hasToken = headers.some(([name]) => name === "authorization");
    return hasToken ? err({ reason: "authentication-unavailable" } as const) : ok(undefined);
  }
  const read = objectOf(parseUniqueJson(claims));
  return read === undefined ? malformed("--claims is a JSON object with each key once.") : ok(read);
}

const RESULTS: Readonly<Record<SourceStep["result"], string>> = {
  silent: "says nothing",
  unlisted: "is not listed",
  refused: "is refused",
  region: "decides",
};

function formatRequest(method: string, url: string, explained: Shown, paint: Runtime["paint"]): string {
  const {
    owner,
    places,
    ids,
    source,
    sources = [],
    creates,
    lists,
    isGraphql,
    redirect,
    region,
    sent,
    tableCanary,
    problem: why,
  } = explained;
  const where = region === undefined ? [] : [paint(["bold", "green"], region)];
  const head = [paint("bold", escapeControls(`${method} ${url}`)), ...(owner === undefined ? [] : [owner]), ...where];
  const rows = places.flatMap((place) => {
    const own = ids.filter((id) => id.place === place);
    if (own.length === 0) return [[place, why !== undefined && UNREAD.test(why.type) ? "not read" : "not there"]];
    return own.map(({ entity, id, region: to, layout, problem }) => {
      return [place, `${entity} ${id}`, to ?? problem?.title ?? "", layout ?? ""];
    });
  });
  const steps = sources.map(({ source: name, value = "", result }, at) => {
    const isLast = at === sources.length - 1;
    return [name, value, isLast ? RESULTS[result] : `${RESULTS[result]} → next source`];
  });
  const notes = [
    ...(source === undefined ? [] : [`no ID: the region is by ${source}`]),
    ...(sent === undefined ? [] : [`origins get ${escapeControls(sent)}`]),
    ...(creates === undefined ? [] : [`creates a new ${creates}: its region follows from its key`]),
    ...(lists === undefined ? [] : [`lists ${lists} over the regions that the query leaves`]),
    ...(isGraphql === undefined ? [] : ["GraphQL: the IDs of its document decide, which are not read here"]),
    ...(tableCanary === undefined ? [] : [`canary: ${escapeControls(tableCanaryInWords(tableCanary))}`]),
    ...(redirect === undefined ? [] : [`redirects to ${escapeControls(redirect)}`]),
  ];
  return linesText([head.join(" → "), ...indented([...alignColumns(rows), ...alignColumns(steps), ...notes])]);
}
