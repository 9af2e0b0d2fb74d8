import { err, ok, type Result } from "../../ids/result.ts";
import type { Scope } from "../../ports/admin.ts";
import { parseUniqueJson } from "../../routing/schema/json-scanner.ts";
import { isRecord } from "../../routing/schema/records.ts";
import {
  areDistinct,
  entriesIn,
  listed,
  matching,
  membersIn,
  oneOf,
  readValid,
  type SettingFault,
  type SettingReader,
  type Settings,
  textOf,
} from "../settings.ts";

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

/** `is`: whether a member fits; `must`: else why not. */
type JwtMember = readonly [name: string, is: (value: unknown) => boolean, must: string];

const isName = (value: unknown): boolean => typeof value === "string" && value.length >= 1 && value.length <= 300;
const isKeysUrl = (value: unknown): boolean =>
  typeof value === "string" && value.startsWith("https://") && URL.canParse(value);
const NAME_WORDS = "must be a text of 1 to 300 characters";

const JWT_MEMBERS: readonly JwtMember[] = [
  ["issuer", isName, NAME_WORDS],
  ["audience", isName, NAME_WORDS],
  ["keys", isKeysUrl, "must be an https: URL"],
  ["scope", isName, NAME_WORDS],
];

interface DeclaredJwt {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: string;
  readonly scope?: string;
}

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
  if (!isRecord(json)) return err(fault);
  for (const [name, is, must] of JWT_MEMBERS) {
    const value = json[name];
    if (value === undefined && name !== "scope") return err(`${setting}: ${name} is missing`);
    if (value !== undefined && !is(value)) return err(`${setting}: ${name} ${must}`);
  }
  const unknown = Object.keys(json).find((own) => !JWT_MEMBERS.some(([name]) => name === own));
  if (unknown !== undefined) return err(`${setting}: ${JSON.stringify(unknown)} is unknown`);
  const { audience, ...rest } = json as unknown as DeclaredJwt;
  return ok({ ...rest, audiences: [audience] });
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

/** Operators have ASCII addresses only: some other letters become ASCII in lower case. */
const OPERATOR = /^(?:\*|[\x21-\x2b\x2d-\x3f\x41-\x7e]{1,64})@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

const ADDRESSES: SettingReader<readonly string[], undefined> = {
  read: listed(OPERATOR, OPERATORS_MAX, 'must be addresses or "*@acme.com", separated by commas'),
  none: undefined,
};

const ACCESS_SETTINGS = {
  ACCESS_TEAM_DOMAIN: {
    read: matching(
      /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/,
      'must be a host in small letters, such as "acme.cloudflareaccess.com"',
    ),
    none: undefined,
  },
  ACCESS_AUDIENCE: {
    read: listed(/^[\x21-\x2b\x2d-\x7e]{1,128}$/, AUDIENCES_MAX, "must be audience tags, separated by commas"),
    none: undefined,
  },
  ACCESS_OPERATORS: ADDRESSES,
  ACCESS_SUPPORT: ADDRESSES,
} as const;

/** `undefined` if there are none, or one of them is invalid. */
function readAccess(env: Settings, faults: SettingFault[]): AccessSettings | undefined {
  const before = faults.length;
  const read = readValid(ACCESS_SETTINGS, env, faults);
  const [isTeamSet, isAudienceSet, ...areSet] = ACCESS_NAMES.map((name) => env[name] !== undefined);
  const setting = ACCESS_NAMES.find((name) => env[name] !== undefined);
  if (setting !== undefined && (isTeamSet !== isAudienceSet || (!isTeamSet && areSet.includes(true)))) {
    faults.push({ setting, why: `${setting}: ${ACCESS_INCOMPLETE}` });
  }
  const { ACCESS_TEAM_DOMAIN: team, ACCESS_AUDIENCE: audiences } = read;
  if (faults.length > before || team === undefined || audiences === undefined) return undefined;
  const operators = inLowerCase(read.ACCESS_OPERATORS);
  const support = inLowerCase(read.ACCESS_SUPPORT);
  return { issuer: `https://${team}`, audiences, operators, ...(support.length > 0 && { support }) };
}

const inLowerCase = (addresses: readonly string[] = []) => addresses.map((one) => one.toLowerCase());

const ACCESS_INCOMPLETE =
  "ACCESS_TEAM_DOMAIN and ACCESS_AUDIENCE need each other, and ACCESS_OPERATORS and ACCESS_SUPPORT need both";

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
export interface AdminToken {
  readonly name: string;
  readonly scope: Scope;
  readonly sha256: Uint8Array<ArrayBuffer>;
}

const SCOPES: readonly Scope[] = ["support", "viewer", "operator", "mint", "directory"];

const tokenIn = (given: unknown): AdminToken | undefined => {
  const { name, scope: declared, sha256: hex } = membersIn(given, ["name", "scope", "sha256"]) ?? {};
  const scope = SCOPES.find((one) => one === declared);
  if (typeof name !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || scope === undefined)
    return undefined;
  if (typeof hex !== "string" || !/^[0-9a-fA-F]{64}$/.test(hex)) return undefined;
  return { name, scope, sha256: Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)) };
};

export const ADMIN_TOKENS_FAULT =
  'ADMIN_TOKENS must be JSON like [{"name": "ci", "scope": "operator", "sha256": "<64 hex digits>"}], ' +
  `1 to ${TOKENS_MAX} entries, no name and no digest twice; \`waybill token new --name NAME --scope operator\` makes one`;

/** The secret `ADMIN_TOKENS`; `undefined` if it is invalid. The error never quotes the secret. */
export const parseAdminTokens = (text: string): readonly AdminToken[] | undefined => {
  const tokens = entriesIn(text, TOKENS_MAX, tokenIn);
  const areTold = (of: (token: AdminToken) => string) => areDistinct((tokens ?? []).map(of));
  return areTold(({ name }) => name) && areTold(({ sha256 }) => sha256.join()) ? tokens : undefined;
};

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

const OPEN_PAGES = { OPEN_PAGES: { read: oneOf(["on", "off"], 'must be "on" or "off"'), none: "off" } } as const;

/** Reads the environment. Invalid settings never open pages. */
export function readAuthSettings(env: Settings, faults: SettingFault[]): AuthSettings {
  const found: SettingFault[] = [];
  // workerd gives null for an unset environment variable.
  const { OPEN_PAGES: open } = readValid(OPEN_PAGES, { OPEN_PAGES: env.OPEN_PAGES ?? undefined }, found);
  const access = readAccess(env, found);
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
    access,
    isFaulty: found.length > 0,
  };
}
