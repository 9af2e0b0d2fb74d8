import * as v from "valibot";
import { err, ok, type Result } from "../ids/result.ts";
import { parseUniqueJson } from "../routing/schema/json-scanner.ts";

/** A fault of a setting. `why`: a sentence that begins with its name, without its value. */
export type SettingFault = Readonly<{ setting: string; why: string }>;

/** Reads settings of which each may be absent. Invalid ones are faults, and are read as if they were absent. */
export function readValid<const Schema extends v.GenericSchema<Readonly<Record<string, unknown>>, unknown>>(
  schema: Schema,
  env: Settings,
  faults: SettingFault[],
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, env);
  if (parsed.success) return parsed.output;
  const valid: Record<string, unknown> = { ...env };
  for (const issue of parsed.issues) {
    const setting = String(issue.path?.[0]?.key);
    faults.push({ setting, why: `${setting}: ${messageOf(issue)}` });
    delete valid[setting];
  }
  return v.parse(schema, valid);
}

/** The library's own messages quote the value. */
export const messageOf = ({ message, expected }: v.BaseIssue<unknown>): string => {
  if (!message.startsWith("Invalid ")) return message;
  return `must be ${expected === "string" ? "a text" : expected}`;
};

/** The text of a setting; `undefined` where it is unset. Variables of the platform may hold other JSON, such as a table. */
export function textOf(setting: keyof Settings, env: Settings): Result<string | undefined, string> {
  const given = env[setting] ?? undefined;
  return given === undefined || typeof given === "string" ? ok(given) : err(`${setting}: must be a text`);
}

/** The parsed secret; `undefined` if invalid, without a reason: it is secret. */
export function readSecret<const Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.InferOutput<Schema> | undefined {
  const parsed = v.safeParse(schema, parseUniqueJson(text));
  return parsed.success ? parsed.output : undefined;
}

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
  "REPORT_SECONDS",
  "CHECK_SECONDS",
  "FIRST_BYTE_DEADLINE_MS",
  "IDLE_DEADLINE_MS",
  "TOTAL_DEADLINE_MS",
  "EARLY_ANSWER_READ_BYTES",
  "EARLY_ANSWER_HOLD_MS",
  // Secrets, not variables: `wrangler secret put PUBLIC_ID_KEYS`. `ADMIN_TOKENS` is one though it has digests alone.
  "PUBLIC_ID_KEYS",
  "ORIGIN_SIGNING_KEYS",
  "ADMIN_TOKENS",
  ...ACCESS,
  "OPEN_PAGES",
  "CONSOLE_HOST",
  "CONSOLE_PREVIEW",
  "MINT",
  "CLIENT_JWT",
  "SEQUENCE_RANGE",
  // A rate limit binding, or text such as `100/60`.
  "CLIENT_RATE_LIMIT",
  "ENTITY_RATE_LIMIT",
  "LOOKUP_RATE_LIMIT",
  "RATE_LIMIT_PERIOD_SECONDS",
] as const;

/** The Worker's settings as they come: by the platform's variables and secrets, of any type, or by an operator's environment. */
export type Settings = { readonly [Name in (typeof SETTING_NAMES)[number]]?: unknown };

/** Unset means open, or the whole range, so an empty value there is an error. */
const NEVER_EMPTY: readonly string[] = [...ACCESS, "ADMIN_TOKENS", "SEQUENCE_RANGE"];

export const isUnset = (name: string, value: unknown): boolean =>
  value === undefined || (value === "" && !NEVER_EMPTY.includes(name));
