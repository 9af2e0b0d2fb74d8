import { isRecord } from "../../routing/schema/records.ts";

/**
 * OTLP/HTTP with JSON (opentelemetry.io/docs/specs/otlp, version 1.x): names in camel case, 64-bit integers as texts, trace
 * and span IDs in hex.
 */

/** A name with its value: a header field, or an attribute. */
export type Pair = readonly [name: string, value: string];

/** `name=value,name=value` with escapes, as OpenTelemetry writes headers and attributes in variables. Its form was checked. */
export const pairsIn = (text: string): readonly Pair[] =>
  text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at).trim(), decodeURIComponent(part.slice(at + 1).trim())];
    });

/** A collector of one signal. The last two are texts of pairs. */
export interface Collector {
  /** With the path of the signal. */
  readonly url: string;
  readonly headers: string;
  readonly resource: string;
}

/** A 64-bit integer of Unix nanoseconds. */
export const nanosOf = (ms: number): string => `${Math.round(ms * 1000)}000`;

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

export const attributesOf = (pairs: Iterable<readonly [string, string | number | undefined]>): readonly Attribute[] =>
  Array.from(pairs).flatMap(([key, value]) =>
    value === undefined || value === ""
      ? []
      : [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }],
  );

/** `instance`: the deployment's name in `via`, which no two deployments share. */
export const resourceOf = (instance: string, attributes: string) => ({
  attributes: attributesOf(
    new Map([["service.name", "waybill"], ["service.instance.id", instance], ...pairsIn(attributes)]),
  ),
});

export const SCOPE = { name: "waybill" };

/** The fate of what was sent. `taken` may have a warning. `unavailable`: it may be sent again, after a while if the collector says so. */
export type Outcome =
  | { readonly outcome: "taken"; readonly why?: string | undefined }
  | { readonly outcome: "partial" | "refused"; readonly why: string }
  | { readonly outcome: "unavailable"; readonly why: string; readonly afterMs: number };

/** Statuses after which a client may send again (OTLP, "Failures"). */
const TEMPORARY: readonly number[] = [429, 502, 503, 504];

/** A collector that is away for longer is asked again nevertheless. */
const AFTER_MS_MAX = 3_600_000;

/** Characters of an answer that are read: an empty object, or a sentence. */
export const ANSWER_CHARACTERS_MAX = 65_536;

/** The rest of a longer answer is not read. */
export async function firstText(chunks: AsyncIterable<string> | undefined): Promise<string> {
  let text = "";
  for await (const chunk of chunks ?? []) {
    text += chunk;
    if (text.length > ANSWER_CHARACTERS_MAX) break;
  }
  return text;
}

const WHY_CHARACTERS_MAX = 300;

export interface CollectorAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}

/** `rejected`: the member of `partialSuccess` that counts what was not taken. */
export function judge(answer: CollectorAnswer, rejected: string, nowMs: number): Outcome {
  const { status, body } = answer;
  const said = objectOf(body);
  if (status >= 200 && status < 300) return judgePart(objectIn(said["partialSuccess"]), rejected);
  const why = shortened(`status ${status}${typeof said["message"] === "string" ? `: ${said["message"]}` : ""}`);
  if (!TEMPORARY.includes(status)) return { outcome: "refused", why };
  return { outcome: "unavailable", why, afterMs: afterMsOf(answer.retryAfter, nowMs) };
}

function judgePart(part: Readonly<Record<string, unknown>>, rejected: string): Outcome {
  const count = Number(part[rejected] ?? 0);
  const message = typeof part["errorMessage"] === "string" ? part["errorMessage"] : "";
  if (count > 0) return { outcome: "partial", why: shortened(`${count} not taken: ${message}`) };
  return { outcome: "taken", why: message === "" ? undefined : shortened(message) };
}

/** A collector's words in one line, without what a terminal would obey. */
const shortened = (text: string): string => text.slice(0, WHY_CHARACTERS_MAX).replace(/\p{C}/gu, " ");

/** Seconds or a date (RFC 9110 §10.2.3). */
function afterMsOf(text: string | null, nowMs: number): number {
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, 0), AFTER_MS_MAX);
}

/** The object of a JSON text, or an empty one. */
export function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return {};
  }
}

const objectIn = (given: unknown): Readonly<Record<string, unknown>> => (isRecord(given) ? given : {});
