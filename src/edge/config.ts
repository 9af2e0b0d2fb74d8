import { FEATURE_SETTINGS, SETTING_RULES } from "../features/settings.ts";
import { ok, type Result } from "../ids/index.ts";
import { KEY_PARTS_MAX, type KeyRange, parseKeyRange } from "../ids/tools/key-range.ts";
import { DEFAULT_NAME } from "../proxy/origin-request.ts";
import { type JwtSettings, type MintDoor, parseClientJwt, parseMintDoor, readAuthSettings } from "./auth/settings.ts";
import { type ConsolePreview, parseConsoleHost, parseConsolePreview } from "./console/settings.ts";
import { NO_SIGNING_KEYS, parseSigningKeys, type SigningKeys } from "./origins/signer.ts";
import { NO_RATE_LIMITS, readRateSettings } from "./rate-limits.ts";
import {
  collectorUrl,
  isUnset,
  listed,
  matching,
  numberIn,
  oneOf,
  pairs,
  readOr,
  readValid,
  type SettingFault,
  type Settings,
  textOf,
} from "./settings.ts";
import { parseTrustedProxies, type TrustedProxies } from "./trusted-proxies.ts";

/** A pseudonym (RFC 9110 §7.6.3), which is a cdn-id too (RFC 8586 §2): a token, and no longer than a host's label. */
const gatewayName = matching(
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,63}$/,
  "must be a token of 1 to 63 characters, such as eu-edge",
);

/** Shown beside the mark of the console, and in what is told to others. */
const environment = matching(
  /^(?=.{1,40}$)[\p{L}\p{N}]+(?:[ ._-][\p{L}\p{N}]+)*$/u,
  "must be a name of at most 40 letters and digits, such as production or eu-staging",
);

/** Down to a tenth of a second, for a gateway under development. */
const refreshSeconds = numberIn(0.1, 86_400, /^\d{1,9}(?:\.\d)?$/, "number of at most one decimal");

/** Events are private: others on the way must not read them. */
const webhookUrl = matching(
  /^(?=.{1,2048}$)(?:https:\/\/[\w.:[\]-]+|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1])(?::\d{1,5})?)(?:[/?][!"$-~]*)?$/,
  "must be an https URL, or an http URL of this machine, without a user",
);

/** As Standard Webhooks has them: 24 to 64 bytes. */
const webhookSecrets = listed(
  /^whsec_(?:[a-z\d+/]{4}){8,21}(?:[a-z\d+/]{2}==|[a-z\d+/]{3}=)?$/i,
  2,
  "must be whsec_ and base64 of 24 to 64 bytes, or two of these",
);

const deadlineMs = numberIn(0, 86_400_000);

const ENV = {
  GATEWAY_NAME: { read: gatewayName, none: DEFAULT_NAME },
  ENVIRONMENT: { read: environment, none: undefined },
  REQUEST_LOG: { read: oneOf(["off", "json"]), none: "off" },
  CLIENT_ADDRESS: { read: oneOf(["cf-connecting-ip", "socket"]), none: "cf-connecting-ip" },
  METHOD_OVERRIDE: { read: oneOf(["remove", "pass"]), none: "remove" },
  SERVER_FIELDS: { read: oneOf(["pass", "remove"]), none: "pass" },
  FORWARDED_FIELDS: { read: oneOf(["replace", "append"]), none: "replace" },
  /** Cloudflare's KV serves a cached value for at least 30 s: asking more often reads the same again. */
  TABLE_REFRESH_SECONDS: { read: refreshSeconds, none: 30 },
  /** Mobile clients commonly give up after 30 to 60 s; a later response is of no use. */
  FIRST_BYTE_DEADLINE_MS: { read: deadlineMs, none: 30_000 },
  /** Servers in wide use cut a body after 60 s of silence; those that pause on purpose say so more often than that. */
  IDLE_DEADLINE_MS: { read: deadlineMs, none: 60_000 },
  TOTAL_DEADLINE_MS: { read: deadlineMs, none: 0 },
  /** Bodies of most APIs are smaller; a larger one is a file, not worth reading for its answer alone. */
  EARLY_ANSWER_READ_BYTES: { read: numberIn(0, 100_000_000), none: 1_048_576 },
  /** A mobile client sends so much in that time. */
  EARLY_ANSWER_HOLD_MS: { read: numberIn(0, 60_000), none: 5_000 },
  /** A scraper asks every 15 to 60 s. Ten times as many calls would show it nothing more. */
  REPORT_SECONDS: { read: numberIn(0, 3_600), none: 10 },
  /** Paths hold IDs, which may be personal. */
  PROBLEM_SAMPLES: { read: oneOf(["on", "off"]), none: "on" },
  /** A dead origin is known after this at the latest, and an idle one is not kept busy. 0: the machine does not reach origins. */
  CHECK_SECONDS: { read: numberIn(0, 3_600), none: 15 },
  /** Unset: the gateway is no part of traces, and sends a client's context on as it came. */
  TRACE_SHARE: { read: numberIn(0, 1, /^[01](?:\.\d{1,6})?$/, "number"), none: undefined },
  EVENTS_WEBHOOK: { read: webhookUrl, none: undefined },
  EVENTS_WEBHOOK_SECRET: { read: webhookSecrets, none: [] },
  OTLP_METRICS_URL: { read: collectorUrl, none: undefined },
  OTLP_METRICS_HEADERS: { read: pairs, none: "" },
  OTEL_RESOURCE_ATTRIBUTES: { read: pairs, none: "" },
  /** As exporters of OpenTelemetry do. */
  OTLP_METRICS_SECONDS: { read: numberIn(1, 3_600), none: 60 },
} as const;

/** A setting of text that has a parser. `none`: its value if it is unset or invalid. */
interface TextSetting<Value> {
  readonly setting: keyof Settings;
  readonly parse: (text: string) => Result<Value, string>;
  readonly none: Value;
}

const textSetting = <Value>(
  setting: keyof Settings,
  parse: (text: string) => Result<Value, string>,
  none: Value,
): TextSetting<Value> => ({ setting, parse, none });

/** An empty one is a fault: unset means the whole range. */
const readSequenceRange = (text: string) => readOr(parseKeyRange(text), SEQUENCE_RANGE_FAULT);

const SEQUENCE_RANGE_FAULT = `SEQUENCE_RANGE must be a part such as 0/4, 1/4, 2/4 or 3/4, of at most ${KEY_PARTS_MAX} parts, or with a first key such as 1/4 from 5000`;

const readSigningKeys = (text: string) => readOr(parseSigningKeys(text), SIGNING_KEYS_FAULT);

const SIGNING_KEYS_FAULT =
  'ORIGIN_SIGNING_KEYS must be JSON like [{"id": "2026a", "key": "<base64 of 32 bytes or more>"}], with one key or two';

const TEXTS = {
  trustedProxies: textSetting<TrustedProxies | undefined>("TRUSTED_PROXIES", parseTrustedProxies, undefined),
  primaryKeys: textSetting<KeyRange | undefined>("SEQUENCE_RANGE", readSequenceRange, undefined),
  ...FEATURE_SETTINGS,
  signingKeys: textSetting<SigningKeys>("ORIGIN_SIGNING_KEYS", readSigningKeys, NO_SIGNING_KEYS),
  mint: textSetting<MintDoor>("MINT", parseMintDoor, "open"),
  clientJwt: textSetting<JwtSettings | undefined>("CLIENT_JWT", parseClientJwt, undefined),
  consoleHost: textSetting<string | undefined>("CONSOLE_HOST", parseConsoleHost, undefined),
  consolePreview: textSetting<ConsolePreview>("CONSOLE_PREVIEW", parseConsolePreview, []),
} as const;

type Texts = { readonly [Name in keyof typeof TEXTS]: (typeof TEXTS)[Name]["none"] };

function readTexts(env: Settings, faults: SettingFault[]): Texts {
  const values = Object.entries<TextSetting<unknown>>(TEXTS).map(([name, { setting, parse, none }]) => {
    const given = textOf(setting, env);
    const parsed = !given.ok ? given : given.value === undefined ? ok(none) : parse(given.value);
    if (!parsed.ok) faults.push({ setting, why: parsed.error });
    return [name, parsed.ok ? parsed.value : none];
  });
  return Object.fromEntries(values);
}

type SettingRule = (env: Settings, texts: Texts, known: readonly SettingFault[]) => readonly SettingFault[];

const RULES: readonly SettingRule[] = SETTING_RULES;

/** The Worker's settings, read once when an isolate starts. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/** Reads every setting. An invalid one is a fault: it has a safe value, and stops only what needs it. */
export function readConfig(env: Settings) {
  const faults: SettingFault[] = [];
  const read = readValid(ENV, env, faults);
  const texts = readTexts(env, faults);
  if (texts.trustedProxies !== undefined && read.FORWARDED_FIELDS === "append") {
    const why = "FORWARDED_FIELDS=append believes everyone; with TRUSTED_PROXIES leave it out";
    faults.push({ setting: "FORWARDED_FIELDS", why });
  }
  const needs = (setting: keyof Settings, what: string) => faults.push({ setting, why: `${setting} needs ${what}` });
  for (const setting of ["OTLP_METRICS_URL", "EVENTS_WEBHOOK"] as const)
    if (read[setting] && read.REPORT_SECONDS === 0) needs(setting, "REPORT_SECONDS above 0");
  if (read.EVENTS_WEBHOOK && env.EVENTS_WEBHOOK_SECRET === undefined) needs("EVENTS_WEBHOOK", "EVENTS_WEBHOOK_SECRET");
  for (const rule of RULES) faults.push(...rule(env, texts, faults));
  const rateLimits = readRateSettings(env, faults);
  const auth = readAuthSettings(env, faults);
  const isFaulty = (name: keyof Settings) => faults.some(({ setting }) => setting === name);
  return {
    ...plainConfig(read, isFaulty),
    ...texts,
    /** `append`: another proxy of the same operator stands before this one, and its `forwarded` and `x-forwarded-*` are kept. */
    forwardedFields: texts.trustedProxies === undefined ? read.FORWARDED_FIELDS : ("replace" as const),
    /** All secrets that can seal something: the first one does, and all open. */
    secrets: secretsOf(texts),
    /** Requests to origins are to be signed: without keys none may be sent. */
    mustSign: (env.ORIGIN_SIGNING_KEYS ?? undefined) !== undefined,
    // Without the proxies that are to be trusted all clients would count as one.
    rateLimits: isFaulty("TRUSTED_PROXIES") ? NO_RATE_LIMITS : rateLimits,
    /** Callers that may see and change the gateway's own pages. */
    auth,
    mint: isFaulty("MINT") ? ("faulty" as const) : texts.mint,
    /** Without its credentials or its name, nothing is sent. */
    metricsPush: read.OTLP_METRICS_URL && !faults.some(({ setting }) => setting.startsWith("OT")) ? read : undefined,
    /** Primary keys of LUUIDs that are this deployment's; `undefined`: all. */
    primaryKeys: isFaulty("SEQUENCE_RANGE") ? ("faulty" as const) : texts.primaryKeys,
    /** Faults of the settings, without their values. */
    faults: faults as readonly SettingFault[],
  };
}

/** The part that follows from settings of one word or number. */
const plainConfig = (read: ReturnType<typeof readValid<typeof ENV>>, isFaulty: (name: keyof Settings) => boolean) => ({
  /** In `cdn-loop` and `via`: no two deployments that may ask one another have the same. */
  gatewayName: read.GATEWAY_NAME,
  /** A name for people, such as production. */
  environment: read.ENVIRONMENT,
  /** Events of the log go there, signed; `undefined`: nowhere. */
  webhook:
    read.EVENTS_WEBHOOK && read.EVENTS_WEBHOOK_SECRET.length > 0
      ? { url: read.EVENTS_WEBHOOK, secrets: read.EVENTS_WEBHOOK_SECRET }
      : undefined,
  /** `json`: one line a request on the console. */
  requestLog: read.REQUEST_LOG,
  /** The party that vouches for the client's address. */
  clientAddress: isFaulty("CLIENT_ADDRESS") ? ("either" as const) : read.CLIENT_ADDRESS,
  /** Whether a status from 520 on may be the word of Cloudflare's edge. Anywhere else it is an origin's own. */
  isOnEdge: read.CLIENT_ADDRESS === "cf-connecting-ip" && !isFaulty("CLIENT_ADDRESS"),
  /** Whether `x-http-method-override` reaches origins, and whether `server` and `x-powered-by` reach clients. */
  fields: {
    passesOverride: read.METHOD_OVERRIDE === "pass",
    hidesServer: read.SERVER_FIELDS === "remove" || isFaulty("SERVER_FIELDS"),
  },
  /** How old the table in memory may grow before it is looked up again in the background. */
  tableRefreshMs: read.TABLE_REFRESH_SECONDS * 1000,
  /** How long origins may take where the table says nothing else; 0 for no limit. */
  deadlines: {
    firstByteMs: read.FIRST_BYTE_DEADLINE_MS,
    idleMs: read.IDLE_DEADLINE_MS,
    totalMs: read.TOTAL_DEADLINE_MS,
  },
  /** Bounds of answers that come before the request's body has; 0 for no wait. */
  earlyAnswers: { bytesMax: read.EARLY_ANSWER_READ_BYTES, holdMs: read.EARLY_ANSWER_HOLD_MS },
  /** Share of the requests without a trace that begin one; `undefined`: no spans at all. */
  traceShare: read.TRACE_SHARE,
  /** The least time between two reports of an isolate to the Durable Object; 0 for no report and no active check. */
  reportMs: read.REPORT_SECONDS * 1000,
  /** Whether the last requests with a problem are kept for an hour. */
  keepsSamples: read.PROBLEM_SAMPLES === "on" && !isFaulty("PROBLEM_SAMPLES"),
  /** The time between two rounds of active checks; 0 for none. */
  checkMs: read.CHECK_SECONDS * 1000,
});

const OF_TRACES = {
  GATEWAY_NAME: ENV.GATEWAY_NAME,
  OTLP_TRACES_URL: { read: collectorUrl, none: undefined },
  OTLP_TRACES_HEADERS: { read: pairs, none: "" },
  OTEL_RESOURCE_ATTRIBUTES: { read: pairs, none: "" },
} as const;

/** Settings that the host keeps to itself: it sends the spans that are in the log. */
export const HOST_SETTINGS: readonly string[] = ["OTLP_TRACES_URL", "OTLP_TRACES_HEADERS"];

/** The collector of traces; none if a setting is invalid. */
export function readTraceSettings(environment: Readonly<Record<string, unknown>>) {
  const faults: SettingFault[] = [];
  const given = Object.keys(OF_TRACES).filter((name) => !isUnset(name, environment[name]));
  const set = Object.fromEntries(given.map((name) => [name, environment[name]]));
  const { OTLP_TRACES_URL: url, ...read } = readValid(OF_TRACES, set, faults);
  const isSent = url !== undefined && faults.length === 0;
  const collector = { url, headers: read.OTLP_TRACES_HEADERS, resource: read.OTEL_RESOURCE_ATTRIBUTES };
  return {
    collector: isSent ? { ...collector, url } : undefined,
    instance: read.GATEWAY_NAME,
    faults: faults as readonly SettingFault[],
  };
}

interface FeatureSetting extends TextSetting<unknown> {
  /** Keys that can seal other things too. */
  secretsOf(value: unknown): readonly Uint8Array[];
}

const OF_FEATURES = Object.entries(FEATURE_SETTINGS) as readonly (readonly [string, FeatureSetting])[];

function secretsOf(texts: Texts): readonly Uint8Array[] {
  const values: Readonly<Record<string, unknown>> = texts;
  const ofFeatures = OF_FEATURES.flatMap(([name, setting]) => setting.secretsOf(values[name]));
  return [...texts.signingKeys.map(({ key }) => key), ...ofFeatures];
}
