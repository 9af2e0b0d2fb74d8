import type { Hono } from "hono";
import type { Gateway } from "../src/ports/gateway.ts";
import type { MovedPart, MovedValues } from "../src/ports/moving.ts";
import type { CompiledTable } from "../src/routing/index.ts";
import type { Paths } from "./openapi/paths.ts";

/** The gateway's own pages that a feature has, and its part of the OpenAPI document. */
export interface PageFeature {
  readonly name: string;
  /** URL families, each a router of its own. */
  readonly pages?: readonly ((gateway: Gateway) => Pick<Hono, "routes">)[];
  readonly openapi?: OpenApiPart;
  /** Its objects, and its values in KV, in an export of the state. */
  readonly moved?: { readonly part?: MovedPart; readonly values?: MovedValues };
}

export interface OpenApiPart {
  readonly tag?: { readonly name: string; readonly description: string };
  readonly schemas?: Readonly<Record<string, object>>;
  readonly paths?: Paths;
  /** Adds what a table gives to paths. */
  readonly withPaths?: (paths: Paths, table: CompiledTable) => Paths;
}
