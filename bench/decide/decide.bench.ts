import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OWN_CHECKOUT, sourceOf } from "../lib/checkouts.ts";
import { seededWords } from "../lib/random.ts";
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import { PACKS } from "../misroute/packs.ts";
import { NOW_MS } from "../misroute/subjects.ts";
import { Dice } from "./dice.ts";
import { OPERATOR_TOKEN, type RandomRequest, randomRequest } from "./requests.ts";
import { canaryOf, type Declared, type RandomTable, randomTable } from "./tables.ts";
import { environment, type NodeWorker, storedTable, type WorkerModule, workerOf } from "./worker-in-node.ts";

/** Decisions of two checkouts on the same random requests and the same random tables. */

const REQUESTS_DEFAULT = 20_000;
const REQUESTS_PER_TABLE = 500;
/** Shown of each kind of difference. */
const EXAMPLES_MAX = 3;

/** The same on both sides, or it is a difference. */
interface Decided {
  readonly status: number;
  /** A problem's type, and its members that are no prose. */
  readonly problem: unknown;
  /** Fields of the answer that lead or bind the client. */
  readonly fields: readonly (string | null)[];
  /** An answer in JSON, without prose: what is said of an ID, a merged answer, minted IDs. */
  readonly said: unknown;
  /** Method, URL and, where the gateway writes the body itself, the body: of each request to an origin. */
  readonly sent: readonly string[];
}

const ISSUER = "https://login.test";
const VARS = {
  CLIENT_ADDRESS: "cf-connecting-ip",
  REQUEST_LOG: "off",
  REPORT_SECONDS: "0",
  TABLE_REFRESH_SECONDS: "86400",
  ADMIN_TOKENS: JSON.stringify([
    { name: "bench", scope: "operator", sha256: createHash("sha256").update(OPERATOR_TOKEN).digest("hex") },
  ]),
  PUBLIC_ID_KEYS: JSON.stringify({ sealed: [{ id: "a", key: Buffer.alloc(32, 7).toString("base64") }] }),
  CLIENT_JWT: JSON.stringify({ issuer: ISSUER, audience: "api", keys: `${ISSUER}/jwks.json` }),
};

export const decideBench: Bench = {
  name: "decide",
  run: async (options) => (options.against === undefined ? [] : [await compare(options.against, options)]),
};

/** `checkTable`: of the checkout before, so that a table which no longer loads is a difference. */
export interface Workers {
  readonly checkTable: typeof import("../../src/routing/index.ts").checkTable;
  readonly before: NodeWorker["make"];
  readonly after: NodeWorker["make"];
}

async function compare(against: string, options: BenchOptions): Promise<Section> {
  const { checkTable } = await sourceOf<typeof import("../../src/routing/index.ts")>(against, "routing/index.ts");
  const [before, after] = await Promise.all([workerOf(against), workerOf(OWN_CHECKOUT)]);
  const { note, ...section } = await compareWorkers({ checkTable, before: before.make, after: after.make }, options);
  return { ...section, note: `This checkout and ${against}. ${note}` };
}

export async function compareWorkers(
  { checkTable, before, after }: Workers,
  { count = REQUESTS_DEFAULT, seed = 1, progress }: BenchOptions,
): Promise<Section> {
  const issuer = makeIssuer();
  const tally = new Tally();
  const dice = new Dice(seededWords(seed));
  let tables = 0;
  let refused = 0;
  for (let done = 0; done < count; ) {
    const table = randomTable(dice);
    if (!checkTable(table.declared).ok) {
      refused += 1;
      continue;
    }
    const canary = dice.chance(30) ? canaryOf(dice, table) : undefined;
    const isCanaryGood = canary !== undefined && checkTable(canary).ok;
    const audience = audienceOf(dice, table);
    const stored = storedOf(table.declared, isCanaryGood ? { declared: canary, audience } : undefined);
    const sides = [before, after].map((make) => new Side(make, stored, table.regions, issuer));
    tally.useTable(table.declared, isCanaryGood);
    tables += 1;
    for (let nth = 0; nth < REQUESTS_PER_TABLE && done < count; nth++, done++) {
      const request = randomRequest(dice, table, issuer.tokens);
      const [old, own] = await Promise.all(sides.map((side) => side.decide(request)));
      tally.record(request, old as Decided, own as Decided, table.declared);
    }
    if (tables % 20 === 0)
      progress(`Decisions: ${done} of ${count}, ${tables} tables, ${tally.differences} differences`);
  }
  return {
    title: "Decisions before and after",
    note:
      `${count} random requests on ${tables} random tables (${refused} more had faults), seed ${seed}. Compared: ` +
      `status, type of the problem, ${COMPARED_FIELDS.join(", ")}, answers in JSON without prose, and method and URL of ` +
      `what was sent to origins. ${tally.features()}`,
    ...tally.report(),
  };
}

function audienceOf(dice: Dice, { entities }: RandomTable): object {
  return dice.pick([{ share: 50 }, { share: 0.5 }, { countries: ["KZ"] }, { entities: [dice.pick(entities).name] }]);
}

type Stored = ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>;

function storedOf(
  declared: Declared,
  canary: { readonly declared: Declared; readonly audience: object } | undefined,
): Stored {
  const stored = storedTable(declared, canary);
  for (const name of Object.keys(declared.packs ?? {})) {
    for (const { key, bytes } of PACKS.get(name)?.parts ?? []) stored.set(key, bytes);
  }
  return stored;
}

interface Issuer {
  readonly tokens: readonly string[];
  readonly jwks: string;
}

function makeIssuer(): Issuer {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");
  const tokens = ["eu", "us", "a", "b", "zz"].map((region) => {
    const claims = { iss: ISSUER, aud: "api", exp: NOW_MS / 1000 + 1e9, sub: region, region, app: { home: region } };
    const signed = `${part({ alg: "RS256", kid: "k", typ: "JWT" })}.${part(claims)}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
  });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" };
  return { tokens, jwks: JSON.stringify({ keys: [key] }) };
}

/** One gateway with its table. */
class Side {
  readonly #worker: WorkerModule["default"];
  readonly #env: object;
  #nowMs = NOW_MS;
  #sent: string[] = [];

  constructor(make: NodeWorker["make"], stored: Stored, regions: readonly string[], { jwks }: Issuer) {
    this.#worker = make({
      nowMs: () => this.#nowMs,
      fetch: async (request) => {
        if (request.url.startsWith(ISSUER))
          return new Response(jwks, { headers: { "content-type": "application/json" } });
        return this.#answer(request);
      },
    }).default;
    const keyRegion = (directory: string, key: string): string | undefined => {
      const choice = createHash("md5").update(`${directory} ${key}`).digest()[0] as number;
      if (choice < 16) throw new Error("the directory is down");
      return choice < 80 ? undefined : regions[choice % regions.length];
    };
    this.#env = environment({ stored, keyRegion, vars: VARS });
  }

  /** By the URL alone, so that both sides hear the same. */
  async #answer(request: Request): Promise<Response> {
    const body = await request.text();
    const isGraphql = new URL(request.url).pathname.endsWith("/graphql");
    this.#sent.push(`${request.method} ${request.url}${isGraphql ? ` ${body}` : ""}`);
    const choice = createHash("md5").update(request.url).digest()[0] as number;
    const status = choice < 12 ? 421 : choice < 40 ? 404 : 200;
    const said = { data: { viewer: { name: "x" } }, items: [], next: null, id: null };
    return new Response(request.method === "HEAD" ? null : JSON.stringify(said), {
      status,
      headers: { "content-type": "application/json" },
    });
  }

  async decide({ method, host, target, headers, body, country, laterMs }: RandomRequest): Promise<Decided> {
    this.#nowMs = NOW_MS + laterMs;
    this.#sent = [];
    const request = new Request(`https://${host}${target}`, {
      method,
      headers: { host, "cf-connecting-ip": "192.0.2.1", ...headers },
      ...(body === undefined
        ? {}
        : {
            body,
            headers: {
              host,
              "cf-connecting-ip": "192.0.2.1",
              "content-length": String(Buffer.byteLength(body)),
              ...headers,
            },
          }),
    });
    Object.assign(request, { cf: country === undefined ? {} : { country, continent: CONTINENT_OF[country] } });
    const response = await this.#worker.fetch(request, this.#env, {
      waitUntil: (work) => void work.catch(() => undefined),
    });
    const text = await response.text().catch((error: unknown) => `broken: ${error}`);
    const sent = this.#sent.toSorted();
    const type = response.headers.get("content-type") ?? "";
    return {
      status: response.status,
      problem: type.startsWith("application/problem+json") ? problemOf(text) : null,
      fields: COMPARED_FIELDS.map((name) => response.headers.get(name)),
      said: type.startsWith("application/json") && text !== "" ? withoutProse(JSON.parse(text)) : null,
      sent,
    };
  }
}

const CONTINENT_OF: Readonly<Record<string, string>> = { KZ: "AS", UZ: "AS", BR: "SA", DE: "EU", US: "NA", JP: "AS" };

const COMPARED_FIELDS = ["location", "allow", "access-control-allow-origin", "set-cookie"];

/** HEAD has a problem without a body. */
const problemOf = (text: string): unknown => (text === "" ? "of HEAD" : withoutProse(JSON.parse(text)));

/** Wording may change between two checkouts, and an instance is of one request. */
const PROSE: ReadonlySet<string> = new Set(["detail", "title", "instance", "message", "why", "hint", "for", "against"]);

function withoutProse(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withoutProse);
  if (typeof json !== "object" || json === null) return json;
  const members = Object.entries(json).filter(([name]) => !PROSE.has(name));
  return Object.fromEntries(members.map(([name, value]) => [name, withoutProse(value)]));
}

interface Example {
  readonly request: RandomRequest;
  readonly before: Decided;
  readonly after: Decided;
  readonly table: object;
}

/** Counts by kind of request, and keeps the first differences. */
class Tally {
  readonly #counts = new Map<string, { all: number; sent: number; problems: number; differ: number }>();
  readonly #examples: Example[] = [];
  readonly #features = new Map<string, number>();
  differences = 0;

  useTable(declared: Declared, hasCanary: boolean): void {
    const entities = Object.values(declared.entities);
    const names = new Set([...Object.keys(declared), ...entities.flatMap((entity) => Object.keys(entity))]);
    if (hasCanary) names.add("canary of the table");
    for (const name of names) this.#features.set(name, (this.#features.get(name) ?? 0) + 1);
  }

  features(): string {
    const names = [...this.#features].toSorted(([a], [b]) => a.localeCompare(b));
    return `Tables by what they have: ${names.map(([name, count]) => `${name} ${count}`).join(", ")}.`;
  }

  record(request: RandomRequest, before: Decided, after: Decided, table: object): void {
    const counts = this.#counts.get(request.kind) ?? { all: 0, sent: 0, problems: 0, differ: 0 };
    this.#counts.set(request.kind, counts);
    counts.all += 1;
    if (before.sent.length > 0) counts.sent += 1;
    if (before.status >= 400 && before.sent.length === 0) counts.problems += 1;
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    counts.differ += 1;
    this.differences += 1;
    if (this.#examples.filter((each) => each.request.kind === request.kind).length < EXAMPLES_MAX) {
      this.#examples.push({ request, before, after, table });
    }
  }

  report(): Pick<Section, "columns" | "rows" | "failure"> {
    const rows = [...this.#counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([kind, { all, sent, problems, differ }]) => [kind, ...[all, sent, problems, differ].map(String)]);
    const columns = ["meant", "requests", "sent to an origin", "refused here", "differ"];
    if (this.differences === 0) return { columns, rows };
    const folder = mkdtempSync(join(tmpdir(), "waybill-decide-"));
    const shown = this.#examples.map(({ request, before, after, table }, at) => {
      const file = join(folder, `${at}.json`);
      writeFileSync(file, JSON.stringify({ request, before, after, table }, null, 2));
      return [file, request, before, after].map((each) => JSON.stringify(each)).join("\n  ");
    });
    return { columns, rows, failure: `${this.differences} decisions differ:\n${shown.join("\n")}` };
  }
}
