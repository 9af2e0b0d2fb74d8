import type { Result } from "./ids/result.ts";
import type { AuthError } from "./problems/port-errors.ts";

/** `viewer` sees the gateway's own pages, `operator` changes what they show as well. */
export type Scope = "viewer" | "operator";

/** Who asks for the gateway's own pages. */
export interface Caller {
  /** Of the token, or the address or service token that Access vouches for. It stands in the audit. */
  readonly name: string;
  readonly scope: Scope;
  /** `access` comes with a browser's cookie, so another site can make the browser send it; `open-pages` is for everybody. */
  readonly by: "token" | "access" | "open-pages";
}

/** Who sends a request, or why that cannot be told. Never throws. */
export type Authenticate = (request: Request) => Promise<Result<Caller, AuthError>>;

/** Why a request for the gateway's own pages was turned away, as it is counted. */
export type DenialReason = "missing" | "wrong" | Exclude<AuthError["reason"], "unauthenticated">;
