import type { Result } from "../ids/result.ts";
import type { RequestSays } from "./resolve/region-sources.ts";
import type { CompiledTable, IdDecision } from "./table.ts";

/** A whole request that is only explained, as features see it. An error of a member is the refusal. */
export interface OwnRequest<Above> extends RequestSays {
  readonly method: string;
  readonly body: Uint8Array;
  /** The text of a body; `undefined` if it is not UTF-8. */
  readonly text: (body: Uint8Array) => string | undefined;
  /** The field `idempotency-key`. */
  readonly key: Result<string | undefined, { readonly reason: string }>;
  readonly claims: Result<Readonly<Record<string, unknown>> | undefined, { readonly reason: string }>;
  /** The decision of the path up to `end`. */
  readonly above: (end: number) => Result<Above, { readonly reason: string }>;
}

/** A feature that refuses requests on its own paths. It stands apart from the compiled table: only explanations ask it. */
export interface RefusalFeature {
  readonly name: string;
  /** Why a request that is only explained would be refused, as far as it alone tells. */
  readonly refusal: (table: CompiledTable, request: OwnRequest<IdDecision>) => { readonly reason: string } | undefined;
}
