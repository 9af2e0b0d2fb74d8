import * as v from "valibot";
import { REGIONS_MAX } from "../../../routing/limits.ts";
import { described, integer, type MembersOutput, name, named, optional } from "../../../routing/schema/parts.ts";
import { KEY_FORMS } from "./normalise.ts";

/** A week: what every cache still has after such an outage is of no use. */
const SECONDS_MAX = 7 * 86_400;

export const DIRECTORIES_MAX = 32;

export const directorySchema = v.strictObject({
  key: described(
    v.union([
      v.strictObject({
        text: described(
          v.picklist(KEY_FORMS),
          "How texts become keys: nfc, lower, ascii-lower, username (RFC 8265), domain or email.",
        ),
        slash: optional(
          v.boolean(),
          "Whether keys may have slashes, which paths write as %2F: for keys such as group/project. Default false.",
        ),
      }),
      v.strictObject({ layout: described(name, "Keys are IDs of this layout, such as uuid-v4.") }),
    ]),
    "The form of the keys.",
  ),
  cacheSeconds: optional(
    integer(0, SECONDS_MAX),
    "How long a found key is cached: during this time a moved key goes to its former region. Default 60.",
  ),
  absentSeconds: optional(
    integer(0, 3_600),
    "How long an absent key is cached: during this time a new key is unknown elsewhere. Default 10.",
  ),
  staleSeconds: optional(
    integer(0, SECONDS_MAX),
    "How long a cached key is used after that while every layer behind the cache fails. Default 86400.",
  ),
  copySeconds: optional(integer(0, 30 * 86_400), "How old a published copy may be to say the region. Default 86400."),
  onFailure: optional(
    v.union([
      v.literal("refuse"),
      v.strictObject({ region: described(name, "The default region; its use is counted.") }),
    ]),
    "Where a request goes when no layer can say: refused with 503 (the default), or a region.",
  ),
  unknown: optional(
    name,
    "The region of keys that are surely not in the directory. Without it they are errors. Reserved keys stay errors.",
  ),
  mode: optional(
    v.picklist(["write-only", "verify", "serve"]),
    "write-only: keys are stored, and the rest of the table decides. verify: looked up as well, and differences are counted. serve (the default): the directory decides.",
  ),
  learnMoves: optional(v.boolean(), "Whether the 421 of an origin moves the key in the directory. Default false."),
});

export const directoriesSchema = described(
  named(directorySchema, DIRECTORIES_MAX),
  "Directories: regions of keys that carry no shard, such as slugs and random UUIDs, by name.",
);

export type DeclaredDirectory = v.InferOutput<typeof directorySchema>;

const regionsInstead = v.pipe(
  v.record(name, name),
  v.minEntries(1, "Name a region, or remove this."),
  v.maxEntries(REGIONS_MAX),
);

export const entityMembers = {
  directory: optional(name, "The directory of the text keys that stand in place of IDs."),
  regionsInstead: optional(
    regionsInstead,
    "Regions in place of those that the directory says: the same keys, and other origins.",
  ),
};

export const routeMembers = { directory: optional(name, "The directory that says each ID's region.") };

type OfEntity = MembersOutput<typeof entityMembers>;
type OfRoute = MembersOutput<typeof routeMembers>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredTable {
    directory?: Record<string, DeclaredDirectory>;
  }
  interface DeclaredEntity extends OfEntity {}
  interface DeclaredRoute extends OfRoute {}
}
