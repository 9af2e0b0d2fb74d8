import * as v from "valibot";
import { err, ok, type Result } from "../ids/index.ts";
import { NO_PUBLIC_KEYS, type PublicKeys, parsePublicKeys } from "../routing/index.ts";
import { type AuthSettings, type MintDoor, parseMintDoor, readAuthSettings } from "./auth/settings.ts";
import { NO_SIGNING_KEYS, parseSigningKeys, type SigningKeys } from "./origins/signer.ts";
import type { ClientSource } from "./platform.ts";
import { NO_RATE_LIMITS, type RateSettings, readRateSettings } from "./rate-limits.ts";
import { readValid, type SettingFault, type Settings } from "./settings.ts";
import { parseTrustedProxies, type TrustedProxies } from "./trusted-proxies.ts";

/** The Worker's settings, read once when an isolate starts. An invalid one has a safe value, and stops only what needs it. */
export interface Config {
  /** `json`: one line a request on the console. */
  readonly requestLog: "off" | "json";
  /** Who vouches for the client's address. */
  readonly clientAddress: ClientSource;
  /** Whether a status from 520 on may be the word of Cloudflare's edge. Anywhere else it is an origin's own. */
  readonly isOnEdge: boolean;
  /** `append`: another proxy of the same operator stands before this one, and its `forwarded` and `x-forwarded-*` are kept. */
  readonly forwardedFields: "replace" | "append";
  /** Proxies of the operator whose word about the client is believed. */
  readonly trustedProxies: TrustedProxies | undefined;
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
  /** Requests to origins are to be signed: without keys none may be sent. */
  readonly mustSign: boolean;
  readonly rateLimits: RateSettings;
  /** Who may see and change the gateway's own pages. */
  readonly auth: AuthSettings;
  readonly mint: MintDoor;
  /** What is wrong with the settings, without their values. */
  readonly faults: readonly SettingFault[];
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
    v.string("must be a text"),
    v.regex(/^\d{1,9}$/, "must be a whole number"),
    v.transform(Number),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

/** Down to a tenth of a second, for a gateway under development. */
const refreshSeconds = v.pipe(
  v.string(),
  v.regex(/^\d{1,9}(?:\.\d)?$/, "must be a number with at most one decimal"),
  v.transform(Number),
  v.minValue(0.1),
  v.maxValue(86_400),
);

const ENV = v.object({
  REQUEST_LOG: v.optional(v.picklist(["off", "json"]), "off"),
  CLIENT_ADDRESS: v.optional(v.picklist(["cf-connecting-ip", "socket"]), "cf-connecting-ip"),
  METHOD_OVERRIDE: v.optional(v.picklist(["remove", "pass"]), "remove"),
  SERVER_FIELDS: v.optional(v.picklist(["pass", "remove"]), "pass"),
  FORWARDED_FIELDS: v.optional(v.picklist(["replace", "append"]), "replace"),
  TABLE_REFRESH_SECONDS: v.optional(refreshSeconds, String(TABLE_REFRESH_SECONDS_DEFAULT)),
  FIRST_BYTE_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), String(FIRST_BYTE_DEADLINE_MS_DEFAULT)),
  IDLE_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), String(IDLE_DEADLINE_MS_DEFAULT)),
  TOTAL_DEADLINE_MS: v.optional(wholeNumber(0, 86_400_000), "0"),
  REPORT_SECONDS: v.optional(wholeNumber(0, 3_600), String(REPORT_SECONDS_DEFAULT)),
  CHECK_SECONDS: v.optional(wholeNumber(1, 3_600), String(CHECK_SECONDS_DEFAULT)),
});

/** Reads every setting. An invalid one is a fault, and its safe value is taken. */
export function readConfig(env: Settings): Config {
  const faults: SettingFault[] = [];
  const read = readValid(ENV, env, faults);
  const isFaulty = (name: keyof Settings) => faults.some(({ setting }) => setting === name);
  const readText = <Keys>(setting: keyof Settings, parse: (text: string) => Result<Keys, string>, none: Keys): Keys => {
    const given = env[setting] ?? undefined;
    const parsed = given === undefined ? ok(none) : parse(String(given));
    if (!parsed.ok) faults.push({ setting, why: parsed.error });
    return parsed.ok ? parsed.value : none;
  };
  const trustedProxies = readText<TrustedProxies | undefined>("TRUSTED_PROXIES", parseTrustedProxies, undefined);
  if (trustedProxies !== undefined && read.FORWARDED_FIELDS === "append") {
    const why = "FORWARDED_FIELDS=append believes everyone; with TRUSTED_PROXIES leave it out";
    faults.push({ setting: "FORWARDED_FIELDS", why });
  }
  const rateLimits = readRateSettings(env, faults);
  const mint = readText<MintDoor>("MINT", parseMintDoor, "open");
  return {
    requestLog: read.REQUEST_LOG,
    clientAddress: isFaulty("CLIENT_ADDRESS") ? "either" : read.CLIENT_ADDRESS,
    isOnEdge: read.CLIENT_ADDRESS === "cf-connecting-ip" && !isFaulty("CLIENT_ADDRESS"),
    forwardedFields: trustedProxies === undefined ? read.FORWARDED_FIELDS : "replace",
    trustedProxies,
    fields: {
      passesOverride: read.METHOD_OVERRIDE === "pass",
      hidesServer: read.SERVER_FIELDS === "remove" || isFaulty("SERVER_FIELDS"),
    },
    tableRefreshMs: read.TABLE_REFRESH_SECONDS * 1000,
    deadlines: {
      firstByteMs: read.FIRST_BYTE_DEADLINE_MS,
      idleMs: read.IDLE_DEADLINE_MS,
      totalMs: read.TOTAL_DEADLINE_MS,
    },
    reportMs: read.REPORT_SECONDS * 1000,
    checkMs: read.CHECK_SECONDS * 1000,
    publicKeys: readText("PUBLIC_ID_KEYS", parsePublicKeys, NO_PUBLIC_KEYS),
    signingKeys: readText("ORIGIN_SIGNING_KEYS", readSigningKeys, NO_SIGNING_KEYS),
    mustSign: (env.ORIGIN_SIGNING_KEYS ?? undefined) !== undefined,
    // Without the proxies that are to be trusted all clients would count as one.
    rateLimits: isFaulty("TRUSTED_PROXIES") ? NO_RATE_LIMITS : rateLimits,
    auth: readAuthSettings(env, faults),
    mint: isFaulty("MINT") ? "faulty" : mint,
    faults,
  };
}

function readSigningKeys(text: string): Result<SigningKeys, string> {
  const keys = parseSigningKeys(text);
  return keys === undefined ? err(SIGNING_KEYS_FAULT) : ok(keys);
}

const SIGNING_KEYS_FAULT =
  'ORIGIN_SIGNING_KEYS must be JSON like [{"id": "2026a", "key": "<base64 of 32 bytes or more>"}], with one key or two';
