import * as v from "valibot";
import * as limits from "../../../routing/limits.ts";
import { described, integer, list, name, optional, token } from "../../../routing/schema/parts.ts";
import { regionBy, regionByContinent } from "../../../routing/schema/without-id.ts";
import type { Region } from "../../../routing/table.ts";

/** Read copies of an entity in the declared table. */
export const readCopiesSchema = v.strictObject({
  clientCountry: optional(regionBy(v.string()), "Region to read from by the client's country, ISO 3166-1 alpha-2."),
  clientContinent: optional(
    regionByContinent,
    "Region to read from by the client's continent, where no country decides. Other clients read from the owner.",
  ),
  countryHeader: optional(
    token,
    "A request header with the client's country, for platforms that do not know it; where they do, it is not read.",
  ),
  lagSeconds: described(
    integer(1, limits.COPY_LAG_SECONDS_MAX),
    "How far a copy may be behind its owner. Clients are told.",
  ),
  owners: optional(
    list(name, limits.REGIONS_MAX),
    "The regions whose entities have copies; all unless given. Entities of others are read from their owner.",
  ),
  afterWriteCookie: optional(
    token,
    "A cookie that responses to writes set for `lagSeconds`: with it a client reads from the owner.",
  ),
});

export type DeclaredReadCopies = v.InferOutput<typeof readCopiesSchema>;

/** Read copies, compiled. */
export interface ReadCopies {
  readonly byCountry: ReadonlyMap<string, Region>;
  readonly byContinent: ReadonlyMap<string, Region>;
  /** In lower case. */
  readonly countryHeader: string | undefined;
  readonly lagSeconds: number;
  /** `undefined`: all regions. */
  readonly owners: ReadonlySet<string> | undefined;
  readonly cookie: string | undefined;
}

declare module "../../../routing/schema/table.ts" {
  interface DeclaredEntity {
    readCopies?: DeclaredReadCopies;
  }
}
