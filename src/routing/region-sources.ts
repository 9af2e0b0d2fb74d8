import { err, ok, type Result } from "../ids/result.ts";
import { TOKEN_LENGTH_MAX } from "./limits.ts";
import { bearerToken, claimOf } from "./token-claims.ts";

/** Which region a request without an ID is for: the first source of a list that says something decides. */

/** The region's name by what may be said. */
export type RegionByValue = ReadonlyMap<string, string>;

/** A source, compiled. `label` is how a problem names it. Header fields are in lower case. */
export type RegionSource = { readonly label: string } & (
  | { readonly kind: "header"; readonly header: string; readonly regions: RegionByValue }
  | { readonly kind: "cookie"; readonly cookie: string; readonly regions: RegionByValue }
  | {
      readonly kind: "claim";
      readonly header: string;
      /** Names from the token's claims down. */
      readonly path: readonly string[];
      readonly regions: RegionByValue;
    }
  | { readonly kind: "country" | "continent"; readonly regions: RegionByValue }
  | { readonly kind: "region"; readonly region: string }
);

/** The cookie that keeps a client in a region that was assumed. */
export interface Sticky {
  readonly cookie: string;
  readonly maxAgeSeconds: number;
}

/** What a request and its client say; each is asked for only when a source needs it. */
export interface RequestSays {
  /** The value of a header field by its name in lower case, all lines of it joined. */
  readonly header: (name: string) => string | undefined;
  /** ISO 3166-1 alpha-2, where it is known. */
  readonly country: () => string | undefined;
  /** Two letters, where it is known. */
  readonly continent: () => string | undefined;
}

export interface RegionChoice {
  readonly region: string;
  /** Whether the client did not say it: it follows from where the client is, or nothing else was known. */
  readonly isAssumed: boolean;
}

export type RegionSourceError =
  | { readonly reason: "region-unknown"; readonly sources: readonly string[] }
  | {
      readonly reason: "unknown-name";
      readonly what: "region";
      readonly name: string;
      /** What the source may say. */
      readonly known: readonly string[];
    }
  | { readonly reason: "malformed-request"; readonly detail: string };

/** A source's word: `undefined` when it says nothing, and the next one is asked. */
type Word = Result<RegionChoice, RegionSourceError> | undefined;

/** Reads the sources in order. Never throws, whatever the request says. */
export const chooseRegion = (
  sources: readonly RegionSource[],
  says: RequestSays,
): Result<RegionChoice, RegionSourceError> => {
  for (const source of sources) {
    const word = evaluate(source, says);
    if (word !== undefined) return word;
  }
  return err({ reason: "region-unknown", sources: sources.map(({ label }) => label) });
};

const evaluate = (source: RegionSource, says: RequestSays): Word => {
  switch (source.kind) {
    case "header":
      return lookUp(says.header(source.header), source.regions);
    case "claim":
      return readToken(source.header, source.path, says, source.regions);
    case "cookie":
      return said(firstKnown(says.header("cookie"), source.cookie, source.regions), false);
    case "country":
      return said(source.regions.get(says.country() ?? ""), true);
    case "continent":
      return said(source.regions.get(says.continent() ?? ""), true);
    case "region":
      return said(source.region, true);
  }
};

const said = (region: string | undefined, isAssumed: boolean): Word =>
  region === undefined ? undefined : ok({ region, isAssumed });

/** Who says a region that there is not is told so, and never sent to another. */
const lookUp = (name: string | undefined, regions: RegionByValue): Word => {
  if (name === undefined) return undefined;
  return (
    said(regions.get(name), false) ?? err({ reason: "unknown-name", what: "region", name, known: [...regions.keys()] })
  );
};

/** A token that is too long to be read might say something: skipping it would be a guess. */
const readToken = (header: string, path: readonly string[], says: RequestSays, regions: RegionByValue): Word => {
  const credentials = says.header(header);
  if (credentials === undefined) return undefined;
  const token = bearerToken(credentials) ?? (header === "authorization" ? undefined : credentials);
  if (token === undefined) return undefined;
  if (token.length > TOKEN_LENGTH_MAX) {
    return err({
      reason: "malformed-request",
      detail: `The token in ${header} is longer than ${TOKEN_LENGTH_MAX} characters.`,
    });
  }
  return lookUp(claimOf(token, path), regions);
};

/** Browsers keep cookies for long after a region is gone, and may send several of one name (RFC 6265 §5.4). */
const firstKnown = (field: string | undefined, name: string, regions: RegionByValue): string | undefined => {
  if (field === undefined) return undefined;
  for (const pair of field.split(";")) {
    const equals = pair.indexOf("=");
    if (equals === -1 || pair.slice(0, equals).trim() !== name) continue;
    const region = regions.get(pair.slice(equals + 1).trim());
    if (region !== undefined) return region;
  }
  return undefined;
};

/** Value of `set-cookie`: not for scripts, and not sent along when another site embeds or posts to this one (RFC 6265bis §5.6). */
export const stickyCookie = ({ cookie, maxAgeSeconds }: Sticky, region: string, isSecure: boolean): string =>
  `${cookie}=${region}; Path=/; Max-Age=${maxAgeSeconds}${isSecure ? "; Secure" : ""}; HttpOnly; SameSite=Lax`;
