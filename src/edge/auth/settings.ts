import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Scope } from "../../ports/admin.ts";
import { parseUniqueJson } from "../../routing/schema/json-scanner.ts";
import { messageOf, readSecret, readValid, type SettingFault, type Settings, textOf } from "../settings.ts";

/** Whose tokens are accepted, signed by RS256. */
export interface JwtSettings {
  /** Access: `https://<team domain>`. */
  readonly issuer: string;
  /** Access: audience tags of its applications. */
  readonly audiences: readonly string[];
  /** URL of the issuer's key set; by default where Access publishes it. */
  readonly keys?: string;
  /** The scope that the claim `scope` must contain (RFC 8693 §4.2). */
  readonly scope?: string | undefined;
}

/** Callers that may mint: all, those with the scope, those with a token of an issuer, or none. `faulty`: the setting is invalid. */
export type MintDoor = "open" | "token" | "off" | "faulty" | JwtSettings;

const NAME_WORDS = "must be a text of 1 to 300 characters";
const NAME = v.pipe(v.string(NAME_WORDS), v.minLength(1, NAME_WORDS), v.maxLength(300, NAME_WORDS));
const KEYS_WORDS = "must be an https: URL";

const MINT_JWT = v.pipe(
  v.strictObject({
    issuer: NAME,
    audience: NAME,
    keys: v.pipe(
      v.string(KEYS_WORDS),
      v.check((text) => text.startsWith("https://") && URL.canParse(text), KEYS_WORDS),
    ),
    scope: v.optional(NAME),
  }),
  v.transform(({ audience, ...rest }): JwtSettings => ({ ...rest, audiences: [audience] })),
);

/** Reads the setting `MINT`. An empty one counts as unset. */
export function parseMintDoor(text: string): Result<MintDoor, string> {
  if (text === "") return ok("open");
  if (text === "open" || text === "token" || text === "off") return ok(text);
  return readJwt("MINT", text, MINT_FAULT);
}

/** Reads the setting `CLIENT_JWT`: whose tokens carry claims that the table may use. */
export const parseClientJwt = (text: string): Result<JwtSettings, string> =>
  readJwt("CLIENT_JWT", text, CLIENT_JWT_FAULT);

/** It is no secret, so the member is named. `fault`: for what is no such object at all. */
function readJwt(setting: string, text: string, fault: string): Result<JwtSettings, string> {
  const json = parseUniqueJson(text);
  const parsed = v.safeParse(MINT_JWT, json);
  if (parsed.success) return ok(parsed.output);
  const [issue] = parsed.issues;
  const member = issue.path?.[0]?.key;
  if (member === undefined || Array.isArray(json)) return err(fault);
  if (issue.expected === "never") return err(`${setting}: ${JSON.stringify(member)} is unknown`);
  const isThere = Object.hasOwn(json as object, String(member));
  return err(`${setting}: ${member} ${isThere ? issue.message : "is missing"}`);
}

const CLIENT_JWT_FAULT =
  'CLIENT_JWT must be JSON like {"issuer": "https://login.acme.com", "audience": "api", ' +
  '"keys": "https://login.acme.com/jwks.json"}';

const MINT_FAULT =
  'MINT must be open, token, off, or JSON like {"issuer": "https://login.acme.com", "audience": "ids", ' +
  '"keys": "https://login.acme.com/jwks.json"}, with "scope" where it is required';

/** The Cloudflare Access application in front of the gateway's own pages. */
export interface AccessSettings extends JwtSettings {
  /** E-mail addresses in lower case, or `*@<domain>` for all of a domain. */
  readonly operators: readonly string[];
  /** The same of those who only look up. */
  readonly support?: readonly string[];
}

const AUDIENCES_MAX = 10;
const OPERATORS_MAX = 200;

/** One or more values: `a, b`. */
const listOf = (item: RegExp, countMax: number, message: string) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(",").map((part) => part.trim())),
    v.array(v.pipe(v.string(), v.regex(item, message))),
    v.maxLength(countMax),
  );

/** Operators have ASCII addresses only: some other letters become ASCII in lower case. */
const OPERATOR = /^(?:\*|[\x21-\x2b\x2d-\x3f\x41-\x7e]{1,64})@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

const ADDRESSES = listOf(OPERATOR, OPERATORS_MAX, 'must be addresses or "*@acme.com", separated by commas');

/** Reads the settings of Access; `undefined` if there are none. */
const accessSettings = v.pipe(
  v.object({
    ACCESS_TEAM_DOMAIN: v.optional(
      v.pipe(
        v.string(),
        v.regex(
          /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/,
          'must be a host in small letters, such as "acme.cloudflareaccess.com"',
        ),
      ),
    ),
    ACCESS_AUDIENCE: v.optional(
      listOf(/^[\x21-\x2b\x2d-\x7e]{1,128}$/, AUDIENCES_MAX, "must be audience tags, separated by commas"),
    ),
    ACCESS_OPERATORS: v.optional(ADDRESSES),
    ACCESS_SUPPORT: v.optional(ADDRESSES),
  }),
  v.check(
    ({ ACCESS_TEAM_DOMAIN: team, ACCESS_AUDIENCE: audiences, ACCESS_OPERATORS: operators, ACCESS_SUPPORT: support }) =>
      (team === undefined) === (audiences === undefined) &&
      (team !== undefined || (operators ?? support) === undefined),
    "ACCESS_TEAM_DOMAIN and ACCESS_AUDIENCE need each other, and ACCESS_OPERATORS and ACCESS_SUPPORT need both",
  ),
  v.transform((set): AccessSettings | undefined => {
    const { ACCESS_TEAM_DOMAIN: team, ACCESS_AUDIENCE: audiences } = set;
    const inLowerCase = (addresses: readonly string[] = []) => addresses.map((one) => one.toLowerCase());
    if (team === undefined || audiences === undefined) return undefined;
    const operators = inLowerCase(set.ACCESS_OPERATORS);
    const support = inLowerCase(set.ACCESS_SUPPORT);
    return { issuer: `https://${team}`, audiences, operators, ...(support.length > 0 && { support }) };
  }),
);

const ADDRESS = /^[\x21-\x3f\x41-\x7e]+@([\x21-\x3f\x41-\x7e]+)$/;

/** Operators come before support; all others are viewers. */
export function scopeOf(email: string, { operators, support = [] }: AccessSettings): Scope {
  if (!ADDRESS.test(email)) return "viewer";
  const address = email.toLowerCase();
  const isIn = (list: readonly string[]) =>
    list.includes(address) || list.includes(`*${address.slice(address.indexOf("@"))}`);
  return isIn(operators) ? "operator" : isIn(support) ? "support" : "viewer";
}

/** Each request is compared with all of them. */
const TOKENS_MAX = 100;

/** A bearer token; only the SHA-256 of it is stored. Its name is the author in the audit. */
const TOKEN = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)),
  scope: v.picklist(["support", "viewer", "operator", "mint", "directory"] satisfies Scope[]),
  sha256: v.pipe(
    v.string(),
    v.regex(/^[0-9a-fA-F]{64}$/),
    v.transform((hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))),
  ),
});
export type AdminToken = Readonly<v.InferOutput<typeof TOKEN>>;

const isDistinct = (values: readonly string[]): boolean => new Set(values).size === values.length;

const SECRET = v.pipe(
  v.array(TOKEN),
  v.minLength(1),
  v.maxLength(TOKENS_MAX),
  v.check((tokens) => isDistinct(tokens.map(({ name }) => name))),
  v.check((tokens) => isDistinct(tokens.map(({ sha256 }) => sha256.join()))),
);

export const ADMIN_TOKENS_FAULT =
  'ADMIN_TOKENS must be JSON like [{"name": "ci", "scope": "operator", "sha256": "<64 hex digits>"}], ' +
  `1 to ${TOKENS_MAX} entries, no name and no digest twice; \`waybill token new\` makes one`;

/** The secret `ADMIN_TOKENS`; `undefined` if it is invalid. The error never quotes the secret. */
export const parseAdminTokens = (text: string): readonly AdminToken[] | undefined => readSecret(SECRET, text);

/** Authentication of operators and viewers. Without settings every caller is rejected. */
export interface AuthSettings {
  /** Every caller is an operator; for local use only. */
  readonly openPages: boolean;
  readonly tokens: readonly AdminToken[];
  readonly access: AccessSettings | undefined;
  /** Some setting of access is invalid, so unknown callers may be right. */
  readonly isFaulty: boolean;
}

const ACCESS_NAMES = ["ACCESS_TEAM_DOMAIN", "ACCESS_AUDIENCE", "ACCESS_OPERATORS", "ACCESS_SUPPORT"] as const;

// workerd gives null for an unset environment variable.
const OPEN_PAGES = v.object({ OPEN_PAGES: v.nullish(v.picklist(["on", "off"], 'must be "on" or "off"'), "off") });

/** Reads the environment. Invalid settings never open pages. */
export function readAuthSettings(env: Settings, faults: SettingFault[]): AuthSettings {
  const found: SettingFault[] = [];
  const { OPEN_PAGES: open } = readValid(OPEN_PAGES, env, found);
  const access = v.safeParse(accessSettings, env);
  for (const issue of access.issues ?? []) {
    const setting = String(issue.path?.[0]?.key ?? ACCESS_NAMES.find((name) => env[name] !== undefined));
    found.push({ setting, why: `${setting}: ${messageOf(issue)}` });
  }
  const text = textOf("ADMIN_TOKENS", env);
  const tokens = !text.ok ? undefined : text.value === undefined ? [] : parseAdminTokens(text.value);
  if (tokens === undefined) found.push({ setting: "ADMIN_TOKENS", why: text.ok ? ADMIN_TOKENS_FAULT : text.error });
  const isGuarded = env.ADMIN_TOKENS != null || env.ACCESS_TEAM_DOMAIN != null;
  if (open === "on" && isGuarded) {
    const why = "OPEN_PAGES conflicts with ADMIN_TOKENS and Access; set one or the other";
    found.push({ setting: "OPEN_PAGES", why });
  }
  faults.push(...found);
  return {
    openPages: open === "on" && found.length === 0,
    tokens: tokens ?? [],
    access: access.success ? access.output : undefined,
    isFaulty: found.length > 0,
  };
}
