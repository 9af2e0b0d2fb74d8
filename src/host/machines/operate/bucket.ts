import { randomBytes } from "node:crypto";
import { parseEnv } from "node:util";
import { CREDENTIALS_FILE } from "../members.ts";
import type { ClusterOptions } from "../options.ts";
import type { Finding } from "./nodes.ts";
import { encodePart, type S3Credentials, signedFields } from "./sign.ts";

export interface BucketNeeds {
  readonly nowMs: () => number;
  readonly fetch: typeof fetch;
  readonly deadline: (ms: number) => AbortSignal;
  readonly env: (name: string) => string | undefined;
  /** `undefined`: it cannot be read. */
  readonly readText: (path: string) => string | undefined;
}

/** A node leaves the cluster at 2 s (measured: 1.98 passes). */
const CLOCK_MAX_MS = 2_000;
const CLOCK_NOTE_MS = 1_000;
const ANSWER_MS = 10_000;
/** A node that stops hands its objects over within the 2 s of a create at 60 ms a request, at 100 ms not all (measured). */
const SLOW_WRITE_MS = 80;
/** At once, for one key: exactly one may win. */
const RACERS = 4;
/** `Date` has whole seconds. */
const DATE_STEP_MS = 1_000;

interface Store {
  readonly endpoint: string;
  readonly name: string;
  readonly prefix: string;
  readonly region: string;
  readonly credentials: S3Credentials | undefined;
}

/** Proves that a cluster can live on its bucket, by requests as workerd sends them. What it writes it deletes. */
export async function checkBucket(cluster: ClusterOptions, needs: BucketNeeds): Promise<readonly Finding[]> {
  if (cluster.bucket.startsWith("gs://"))
    return [
      {
        state: "note",
        text: `${cluster.bucket}: each node proves Google's storage at its start; it is not asked here`,
      },
    ];
  const store = storeOf(cluster, needs);
  const asker = new BucketAsker(store, needs);
  const unsigned: Finding[] =
    store.credentials === undefined
      ? [{ state: "note", text: `${cluster.bucket}: no credentials are there, so its requests are not signed` }]
      : [];
  let found: Finding;
  try {
    const fault = withName(cluster, await writesFault(asker));
    found = fault ?? { state: "ok", text: `${cluster.bucket} has conditional writes` };
  } catch (error) {
    found = noAnswer(cluster, error);
  }
  const slow = found.state === "ok" ? asker.slownessFinding() : [];
  return [...unsigned, found, ...slow, ...asker.clockFinding()];
}

/** Why a node that starts now would end at once; `undefined`: nothing is known of that. It only lists. */
export async function bucketObstacle(cluster: ClusterOptions, needs: BucketNeeds): Promise<string | undefined> {
  if (cluster.bucket.startsWith("gs://")) return undefined;
  const store = storeOf(cluster, needs);
  // A node may have credentials of another source.
  if (store.credentials === undefined) return undefined;
  try {
    return withName(cluster, await listFault(new BucketAsker(store, needs)))?.text;
  } catch (error) {
    return noAnswer(cluster, error).text;
  }
}

function storeOf({ bucket, bucketOptions }: ClusterOptions, { env, readText }: BucketNeeds): Store {
  const options = new Map(bucketOptions.map((text) => text.split(/=(.*)/s, 2) as [string, string]));
  const [, name = "", prefix = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(bucket) ?? [];
  const region = options.get("aws_region") ?? env("AWS_REGION") ?? "us-east-1";
  const endpoint = options.get("aws_endpoint") ?? env("AWS_ENDPOINT_URL") ?? `https://s3.${region}.amazonaws.com`;
  const file = options.get(CREDENTIALS_FILE) ?? env("AWS_CREDENTIALS_FILE");
  const ofFile = file === undefined ? undefined : parseEnv(readText(file) ?? "");
  const read = (variable: string) => (ofFile === undefined ? env(variable) : ofFile[variable]);
  const [accessKeyId, secretAccessKey] = [read("AWS_ACCESS_KEY_ID"), read("AWS_SECRET_ACCESS_KEY")];
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey, sessionToken: read("AWS_SESSION_TOKEN") };
  return { endpoint: endpoint.replace(/\/$/, ""), name, prefix, region, credentials };
}

interface StoreAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
}

interface StoreCall {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

class BucketAsker {
  readonly #store: Store;
  readonly #needs: BucketNeeds;
  /** Bounds of the bucket's clock minus this machine's, of all answers. */
  #leastMs = Number.NEGATIVE_INFINITY;
  #mostMs = Number.POSITIVE_INFINITY;
  #fastestWriteMs = Number.POSITIVE_INFINITY;

  constructor(store: Store, needs: BucketNeeds) {
    this.#store = store;
    this.#needs = needs;
  }

  async ask({ method, key, query = "", fields = {}, body = "" }: StoreCall): Promise<StoreAnswer> {
    const { endpoint, name, prefix, region, credentials } = this.#store;
    const { nowMs, fetch, deadline } = this.#needs;
    const path = [name, ...(key === undefined ? [] : [...prefix.split("/"), key])].filter((part) => part !== "");
    const url = new URL(`${endpoint}/${path.map(encodePart).join("/")}${query}`);
    const sentMs = nowMs();
    const signed = credentials === undefined ? {} : signedFields({ method, url, body }, credentials, region, sentMs);
    const response = await fetch(url, {
      method,
      headers: { ...fields, ...signed },
      redirect: "manual",
      signal: deadline(ANSWER_MS),
      ...(body === "" ? {} : { body }),
    });
    const receivedMs = nowMs();
    if (method === "PUT") this.#fastestWriteMs = Math.min(this.#fastestWriteMs, receivedMs - sentMs);
    this.#compareClock(response.headers.get("date"), sentMs, receivedMs);
    return { status: response.status, etag: response.headers.get("etag") ?? undefined, text: await response.text() };
  }

  get prefix(): string {
    return this.#store.prefix;
  }

  #compareClock(date: string | null, sentMs: number, receivedMs: number): void {
    const dateMs = Date.parse(date ?? "");
    if (Number.isNaN(dateMs)) return;
    this.#leastMs = Math.max(this.#leastMs, dateMs - receivedMs);
    this.#mostMs = Math.min(this.#mostMs, dateMs + DATE_STEP_MS - sentMs);
  }

  slownessFinding(): readonly Finding[] {
    if (this.#fastestWriteMs < SLOW_WRITE_MS) return [];
    const text = `a write to the bucket takes ${this.#fastestWriteMs} ms, so that some creates with a key get 503 while a node is restarted: use a bucket near by`;
    return [{ state: "warning", text }];
  }

  clockFinding(): readonly Finding[] {
    const offMs = (this.#leastMs + this.#mostMs) / 2;
    if (!Number.isFinite(offMs)) return [];
    const seconds = `about ${(Math.abs(offMs) / 1000).toFixed(1)} s ${offMs < 0 ? "ahead of" : "behind"} the bucket's`;
    if (Math.abs(offMs) >= CLOCK_MAX_MS)
      return [{ state: "error", text: `this machine's clock is ${seconds}, and a node leaves at 2 s: run NTP` }];
    if (Math.abs(offMs) >= CLOCK_NOTE_MS)
      return [{ state: "note", text: `this machine's clock is ${seconds}: run NTP` }];
    return [{ state: "ok", text: "this machine's clock agrees with the bucket's" }];
  }
}

/** `undefined`: the store does all that workerd needs. Sentences begin with `it`, the bucket. */
async function writesFault(asker: BucketAsker): Promise<Finding | undefined> {
  const key = `waybill-check-${randomBytes(8).toString("hex")}`;
  try {
    return (await createFault(asker, key)) ?? (await replaceFault(asker, key)) ?? (await listFault(asker));
  } finally {
    await asker.ask({ method: "DELETE", key }).catch(() => undefined);
  }
}

const error = (text: string): Finding => ({ state: "error", text });

const withName = ({ bucket }: ClusterOptions, fault: Finding | undefined): Finding | undefined =>
  fault && { ...fault, text: fault.text.replace(/^it /, `${bucket} `) };

const noAnswer = ({ bucket }: ClusterOptions, why: unknown): Finding =>
  error(`${bucket} does not answer: ${causeOf(why)}`);

async function createFault(asker: BucketAsker, key: string): Promise<Finding | undefined> {
  const answers = await Promise.all(
    Array.from({ length: RACERS }, (_, at) =>
      asker.ask({ method: "PUT", key, fields: { "if-none-match": "*" }, body: `create ${at}` }),
    ),
  );
  const won = answers.filter(({ status }) => status === 200);
  const refused = answers.find(({ status }) => ![200, 409, 412].includes(status));
  if (refused !== undefined) return refusalOf("a write", refused);
  if (won.length !== 1)
    return error(
      `it let ${won.length} of ${RACERS} writes create one object: it ignores if-none-match, and a cluster would lose data`,
    );
  return undefined;
}

async function replaceFault(asker: BucketAsker, key: string): Promise<Finding | undefined> {
  const read = await asker.ask({ method: "GET", key });
  if (read.status !== 200) return refusalOf("a read", read);
  if (read.etag === undefined) return error("it gives no etag, which conditional writes need");
  const replace = (body: string) => asker.ask({ method: "PUT", key, fields: { "if-match": read.etag ?? "" }, body });
  const first = await replace("replace 1");
  if (first.status !== 200) return refusalOf("a write with if-match", first);
  const second = await replace("replace 2");
  if (second.status === 412) return undefined;
  return second.status === 200
    ? error("it ignores if-match, and a cluster would lose data: use a store with conditional writes")
    : refusalOf("a write with if-match", second);
}

async function listFault(asker: BucketAsker): Promise<Finding | undefined> {
  const query = `?list-type=2&max-keys=1&prefix=${encodePart(asker.prefix)}`;
  const listed = await asker.ask({ method: "GET", query });
  return listed.status === 200 ? undefined : refusalOf("a list", listed);
}

const REMEDIES: Readonly<Record<number, string>> = {
  301: "write the bucket's own region as aws_region",
  307: "write the bucket's own region as aws_region",
  400: "correct aws_region and aws_endpoint",
  403: "give its credentials the rights to read, write, list and delete, and correct the clock",
  404: "make the bucket, or correct its name",
  501: "use a store with conditional writes",
};

/** The code of S3 stands in XML. */
function refusalOf(what: string, { status, text }: StoreAnswer): Finding {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(text)?.[1];
  const remedy = REMEDIES[status];
  return error(
    `it answered ${what} with ${status}${code === undefined ? "" : ` ${code}`}${remedy === undefined ? "" : `: ${remedy}`}`,
  );
}

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
};
