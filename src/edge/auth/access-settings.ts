import * as v from "valibot";

/** A Cloudflare Access application in front of the gateway's own pages. */
export interface AccessSettings {
  /** `https://<team domain>`: who issues the tokens. */
  readonly issuer: string;
  /** Tags of the Access applications whose tokens count. */
  readonly audiences: readonly string[];
  /** E-mail addresses in small letters, or `*@<domain>` for all of a domain. */
  readonly operators: readonly string[];
}

const AUDIENCES_MAX = 10;
const OPERATORS_MAX = 200;

/** `a, b`: one value or more. */
const listOf = (item: RegExp, countMax: number, message: string) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(",").map((part) => part.trim())),
    v.array(v.pipe(v.string(), v.regex(item, message))),
    v.maxLength(countMax),
  );

/** Only ASCII is ever an operator: other letters that become ASCII ones in small print must not make somebody else of anybody. */
const OPERATOR = /^(?:\*|[\x21-\x2b\x2d-\x3f\x41-\x7e]{1,64})@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

/** The settings of Access, from the environment; `undefined` without any. */
export const accessSettings = v.pipe(
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
    ACCESS_OPERATORS: v.optional(
      listOf(OPERATOR, OPERATORS_MAX, 'must be addresses or "*@acme.com", separated by commas'),
    ),
  }),
  v.check(
    ({ ACCESS_TEAM_DOMAIN: team, ACCESS_AUDIENCE: audiences, ACCESS_OPERATORS: operators }) =>
      (team === undefined) === (audiences === undefined) && (team !== undefined || operators === undefined),
    "ACCESS_TEAM_DOMAIN and ACCESS_AUDIENCE need each other, and ACCESS_OPERATORS needs both",
  ),
  v.transform((set): AccessSettings | undefined => {
    const { ACCESS_TEAM_DOMAIN: team, ACCESS_AUDIENCE: audiences, ACCESS_OPERATORS: operators = [] } = set;
    if (team === undefined || audiences === undefined) return undefined;
    return { issuer: `https://${team}`, audiences, operators: operators.map((one) => one.toLowerCase()) };
  }),
);

const ADDRESS = /^[\x21-\x3f\x41-\x7e]+@([\x21-\x3f\x41-\x7e]+)$/;

/** Whether an address, as Access vouches for it, is an operator's. */
export function isOperator(email: string, { operators }: AccessSettings): boolean {
  if (!ADDRESS.test(email)) return false;
  const address = email.toLowerCase();
  return operators.includes(address) || operators.includes(`*${address.slice(address.indexOf("@"))}`);
}
