import * as v from "valibot";
import { ok } from "../ids/index.ts";
import { NO_PUBLIC_KEYS, type PublicKeys, parsePublicKeys } from "../routing/index.ts";
import { type AuthSettings, readAuthSettings } from "./auth/settings.ts";
import { NO_SIGNING_KEYS, parseSigningKeys, type SigningKeys } from "./origins/signer.ts";
import { type RateSettings, rateSettings } from "./rate-limits.ts";
import type { Settings } from "./settings.ts";

/** The Worker's settings, checked once when an isolate starts. A wrong one stops every request with its name. */
export interface Config {
  /** `json`: one line a request on the console. */
  readonly requestLog: "off" | "json";
  /** Who vouches for the client's address: Cloudflare's edge, or the socket of a self-hosted workerd. */
  readonly clientAddress: "cf-connecting-ip" | "socket";
  /** `append`: another proxy of the same operator stands before this one, and its `forwarded` and `x-forwarded-*` are kept. */
  readonly forwardedFields: "replace" | "append";
  /** Whether `x-http-method-override` reaches origins, and whether `server` and `x-powered-by` reach clients. */
  readonly fields: { readonly passesOverride: boolean; readonly hidesServer: boolean };
  /** How old the table in memory may grow before it is looked up again in the background. */
  readonly tableRefreshMs: number;
  /** How long origins may take, in milliseconds, where the table says nothing else; 0 for no limit. */
  readonly deadlines: { readonly firstByteMs: number; readonly idleMs: number; readonly totalMs: number };
  /** The least time between two reports of an isolate to the Durable Object; 0 for no report and no active check. */
  readonly reportMs: number;
  /** The time between two rounds of active checks. */
  readonly checkMs: number;
  /** A secret: never logged, and in no error. */
  readonly publicKeys: PublicKeys;
  /** A secret too. None: requests to origins are not signed. */
  readonly signingKeys: SigningKeys;
  readonly rateLimits: RateSettings;
  /** Who may see and change the gateway's own pages. */
  readonly auth: AuthSettings;
}

/** Cloudflare's KV serves a cached value for at least 30 s: asking more often reads the same again. */
const TABLE_REFRESH_SECONDS_DEFAULT = 30;

/** Mobile clients commonly give up after 30 to 60 s; a later response is of no use. */
const FIRST_BYTE_DEADLINE_MS_DEFAULT = 30_000;

/** Servers in wide use cut a body after 60 s of silence; those that pause on purpose say so more often than that. */
const IDLE_DEADLINE_MS_DEFAULT = 60_000;

/** A scraper asks every 15 to 60 s. Ten times as many calls would show it nothing more. */
const REPORT_SECONDS_DEFAULT = 10;

/** A dead origin is known after this at the latest, and an idle one is not kept busy. */
const CHECK_SECONDS_DEFAULT = 15;

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, "must be a whole number"),
    v.transform(Number),
    v.minValue(min),
    v.maxValue(max),
  );

const ENV = v.object({
  REQUEST_LOG: v.optional(v.picklist(["off", "json"]), "off"),
  CLIENT_ADDRESS: v.optional(v.picklist(["cf-connecting-ip", "socket"]), "cf-connecting-ip"),
  METHOD_OVERRIDE: v.optional(v.picklist(["remove", "pass"]), "remove"),
  SERVER_FIELDS: v.optional(v.picklist(["pass", "remove"]), "pass"),
  FORWARDED_FIELDS: v.optional(v.picklist(["replace", "append"]), "replace"),
  TABLE_REFRESH_SECONDS: v.optional(wholeNumber(1, 86_400), String(TABLE_REFRESH_SECONDS_DEFAULT)),
  FIRST_BYTE_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), String(FIRST_BYTE_DEADLINE_MS_DEFAULT)),
  IDLE_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), String(IDLE_DEADLINE_MS_DEFAULT)),
  TOTAL_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), "0"),
  REPORT_SECONDS: v.optional(wholeNumber(0, 3_600), String(REPORT_SECONDS_DEFAULT)),
  CHECK_SECONDS: v.optional(wholeNumber(1, 3_600), String(CHECK_SECONDS_DEFAULT)),
});

/** Throws with the name of every setting at fault: a deployment mistake, not a client's. */
export function readConfig(env: Settings): Config {
  const parsed = v.safeParse(ENV, env);
  const limits = v.safeParse(rateSettings, env);
  const auth = readAuthSettings(env);
  if (!parsed.success || !limits.success || !auth.ok) {
    const issues = [...(parsed.issues ?? []), ...(limits.issues ?? [])];
    const faults = issues.map((issue) => `${v.getDotPath(issue) ?? "env"}: ${issue.message}`);
    if (!auth.ok) faults.push(...auth.error);
    throw new Error(`invalid settings: ${faults.join("; ")}`);
  }
  const publicKeys = env.PUBLIC_ID_KEYS === undefined ? ok(NO_PUBLIC_KEYS) : parsePublicKeys(env.PUBLIC_ID_KEYS);
  if (!publicKeys.ok) throw new Error(`invalid settings: ${publicKeys.error}`);
  const signingKeys =
    env.ORIGIN_SIGNING_KEYS === undefined ? NO_SIGNING_KEYS : parseSigningKeys(env.ORIGIN_SIGNING_KEYS);
  if (signingKeys === undefined) {
    throw new Error(
      "invalid settings: ORIGIN_SIGNING_KEYS must be JSON like " +
        '[{"id": "2026a", "key": "<base64 of 32 bytes or more>"}], with one key or two',
    );
  }
  return {
    requestLog: parsed.output.REQUEST_LOG,
    clientAddress: parsed.output.CLIENT_ADDRESS,
    forwardedFields: parsed.output.FORWARDED_FIELDS,
    fields: {
      passesOverride: parsed.output.METHOD_OVERRIDE === "pass",
      hidesServer: parsed.output.SERVER_FIELDS === "remove",
    },
    tableRefreshMs: parsed.output.TABLE_REFRESH_SECONDS * 1000,
    deadlines: {
      firstByteMs: parsed.output.FIRST_BYTE_DEADLINE_MS,
      idleMs: parsed.output.IDLE_DEADLINE_MS,
      totalMs: parsed.output.TOTAL_DEADLINE_MS,
    },
    reportMs: parsed.output.REPORT_SECONDS * 1000,
    checkMs: parsed.output.CHECK_SECONDS * 1000,
    publicKeys: publicKeys.value,
    signingKeys,
    rateLimits: limits.output,
    auth: auth.value,
  };
}
