import { err, ok, type Result } from "../ids/result.ts";
import { parseUniqueJson } from "../routing/schema/json-scanner.ts";
import { isRecord } from "../routing/schema/records.ts";

/** A fault of a setting. `why`: a sentence that begins with its name, without its value. */
export type SettingFault = Readonly<{ setting: string; why: string }>;

/** Reads a value of the platform. The error says what it must be. Every start reads settings, so they need no library. */
export type Reader<Value> = (given: unknown) => Result<Value, string>;

/** How a setting is read; and its value if it is unset or invalid. */
export interface SettingReader<Value, None = Value> {
  readonly read: Reader<Value>;
  readonly none: None;
}

type Values<Readers> = {
  readonly [Name in keyof Readers]: Readers[Name] extends SettingReader<infer Value, infer None> ? Value | None : never;
};

/** Reads settings of which each may be absent. Invalid ones are faults, and are read as if they were absent. */
export function readValid<const Readers extends Readonly<Record<string, SettingReader<unknown>>>>(
  readers: Readers,
  env: Settings,
  faults: SettingFault[],
): Values<Readers> {
  const values = Object.entries(readers).map(([setting, { read, none }]) => {
    const given = (env as Readonly<Record<string, unknown>>)[setting];
    const value = given === undefined ? ok(none) : read(given);
    if (!value.ok) faults.push({ setting, why: `${setting}: ${value.error}` });
    return [setting, value.ok ? value.value : none];
  });
  return Object.fromEntries(values);
}

/** A text of a form. */
export const matching =
  (form: RegExp, must: string): Reader<string> =>
  (given) => {
    if (typeof given !== "string") return err(NO_TEXT);
    return form.test(given) ? ok(given) : err(must);
  };

const NO_TEXT = "must be a text";

export const oneOf = <const Word extends string>(words: readonly Word[], must = wordsOf(words)): Reader<Word> => {
  return (given) =>
    readOr(
      words.find((word) => word === given),
      must,
    );
};

const wordsOf = (words: readonly string[]) => `must be (${words.map((word) => JSON.stringify(word)).join(" | ")})`;

/** A number between bounds, in a form of text. */
export const numberIn = (min: number, max: number, form = /^\d{1,9}$/, kind = "whole number"): Reader<number> => {
  const must = `must be a ${kind} from ${min} to ${max}`;
  const textOfForm = matching(form, must);
  return (given) => {
    const text = textOfForm(given);
    if (!text.ok) return text;
    const number = Number(text.value);
    return number < min || number > max ? err(must) : ok(number);
  };
};

/** The path names the signal that a collector gets: its address alone is none. */
export const collectorUrl = matching(
  /^(?=.{1,2048}$)https?:\/\/[\w.:[\]-]+\/[!"$-~]+$/,
  "must be an http or https URL with a path, such as http://127.0.0.1:4318/v1/metrics",
);

/**
 * Headers, or attributes of the resource, as OpenTelemetry writes them in variables. Each name comes once; fields of the message
 * itself do not. Escapes stand for visible ASCII and spaces.
 */
export const pairs = matching(
  /^(?=.{1,8192}$)(?!(?:.*,)? *([^=,]+)=(?:.*,)? *\1=)(?: *(?!(?:connection|content-\w+|expect|host|te|trailer|transfer-encoding|upgrade|user-agent)=)[\w!#$%&'*+.^`|~-]+=(?:[!-$&-+.-~-]|%[2-6][\da-f]|%7[\da-e])+ *(?:,(?!$)|$))+$/i,
  "must be name=value,name=value: values percent-encoded, each name once",
);

/** One or more values: `a, b`. */
export const listed =
  (form: RegExp, countMax: number, must: string): Reader<readonly string[]> =>
  (given) => {
    if (typeof given !== "string") return err(NO_TEXT);
    const values = given.split(",").map((part) => part.trim());
    if (!values.every((value) => form.test(value))) return err(must);
    return values.length > countMax ? err(`must be at most ${countMax} values`) : ok(values);
  };

/** The text of a setting; `undefined` where it is unset. Variables of the platform may hold other JSON, such as a table. */
export function textOf(setting: keyof Settings, env: Settings): Result<string | undefined, string> {
  const given = env[setting] ?? undefined;
  return given === undefined || typeof given === "string" ? ok(given) : err(`${setting}: must be a text`);
}

/** The entries of a JSON array in a setting; `undefined` if one of them is invalid, or there are too few or too many. */
export function entriesIn<Entry>(
  text: string,
  countMax: number,
  entryOf: (given: unknown) => Entry | undefined,
): readonly Entry[] | undefined {
  const json = parseUniqueJson(text);
  if (!Array.isArray(json) || json.length === 0 || json.length > countMax) return undefined;
  const entries = json.flatMap((given) => entryOf(given) ?? []);
  return entries.length === json.length ? entries : undefined;
}

/** The members of an object that has these and no others. */
export function membersIn(given: unknown, names: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(given)) return undefined;
  const own = Object.keys(given);
  return own.length === names.length && own.every((name) => names.includes(name)) ? given : undefined;
}

export const areDistinct = (values: readonly string[]): boolean => new Set(values).size === values.length;

/** The value of a setting, or the fault that says what it must be. */
export const readOr = <Value>(value: Value | undefined, fault: string): Result<Value, string> =>
  value === undefined ? err(fault) : ok(value);

const ACCESS = ["ACCESS_TEAM_DOMAIN", "ACCESS_AUDIENCE", "ACCESS_OPERATORS", "ACCESS_SUPPORT"] as const;

export const SETTING_NAMES = [
  "GATEWAY_NAME",
  "REQUEST_LOG",
  "CLIENT_ADDRESS",
  "FORWARDED_FIELDS",
  "TRUSTED_PROXIES",
  "METHOD_OVERRIDE",
  "SERVER_FIELDS",
  "TABLE_REFRESH_SECONDS",
  "TRACE_SHARE",
  "REPORT_SECONDS",
  "PROBLEM_SAMPLES",
  "OTLP_METRICS_URL",
  "OTLP_METRICS_SECONDS",
  "OTEL_RESOURCE_ATTRIBUTES",
  "CHECK_SECONDS",
  "FIRST_BYTE_DEADLINE_MS",
  "IDLE_DEADLINE_MS",
  "TOTAL_DEADLINE_MS",
  "EARLY_ANSWER_READ_BYTES",
  "EARLY_ANSWER_HOLD_MS",
  // Secrets, not variables: `wrangler secret put PUBLIC_ID_KEYS`. `ADMIN_TOKENS` is one though it has digests alone.
  "PUBLIC_ID_KEYS",
  "ORIGIN_SIGNING_KEYS",
  "PEER_KEYS",
  "ADMIN_TOKENS",
  "OTLP_METRICS_HEADERS",
  "EVENTS_WEBHOOK_SECRET",
  ...ACCESS,
  "OPEN_PAGES",
  "CONSOLE_HOST",
  "CONSOLE_PREVIEW",
  "ENVIRONMENT",
  "EVENTS_WEBHOOK",
  "MINT",
  "CLIENT_JWT",
  "SEQUENCE_RANGE",
  "SELF_REGIONS",
  // A rate limit binding, or text such as `100/60`.
  "CLIENT_RATE_LIMIT",
  "ENTITY_RATE_LIMIT",
  "LOOKUP_RATE_LIMIT",
  "RATE_LIMIT_PERIOD_SECONDS",
] as const;

/** The Worker's settings as they come: by the platform's variables and secrets, of any type, or by an operator's environment. */
export type Settings = { readonly [Name in (typeof SETTING_NAMES)[number]]?: unknown };

/** Unset means open, or the whole range, so an empty value there is an error. */
const NEVER_EMPTY: readonly string[] = [...ACCESS, "ADMIN_TOKENS", "SEQUENCE_RANGE", "SELF_REGIONS"];

export const isUnset = (name: string, value: unknown): boolean =>
  value === undefined || (value === "" && !NEVER_EMPTY.includes(name));
