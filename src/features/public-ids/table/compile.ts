import type { TableFeature } from "../../../routing/feature.ts";
import { readersOf } from "../../../routing/resolve/match.ts";
import type { CompiledTable, EnabledLayout, Owner } from "../../../routing/table.ts";
import { fieldPathsOf, type PublicKind, publicKindOf } from "./entities.ts";
import type { FieldPaths } from "./field-paths.ts";
import { PUBLIC_READING, publicReadingOf } from "./reading.ts";

/** Public IDs in a compiled table. */

/** The table without entities whose IDs are public; `undefined` where it has none. */
const viewOf = (table: CompiledTable): CompiledTable | undefined => {
  const entities = new Map([...table.entities].filter(([, entity]) => entity.public === undefined));
  if (entities.size === table.entities.size) return undefined;
  const used = new Set([...entities.values()].flatMap(({ ids }) => ids.map(({ enabled }) => enabled)));
  const own = [...table.layouts].filter(([, enabled]) => used.has(enabled));
  const layouts = new Map(own.map(([name, enabled]) => [name, ownedByOthers(enabled)]));
  const readers = readersOf([...layouts.values()], ({ layout }) => layout);
  return { ...table, entities, layouts, readers, reading: undefined };
};

const ownedByOthers = (enabled: EnabledLayout): EnabledLayout => {
  const others = (owners: readonly Owner[]) => owners.filter(({ entity }) => entity.public === undefined);
  const { mark, marked, unmarked } = enabled.owners;
  const ofMarks = new Map([...marked].map(([number, of]) => [number, others(of)]));
  return { ...enabled, owners: { mark, marked: ofMarks, unmarked: others(unmarked) } };
};

/** The last of all features: its view has what the others made. */
export const publicIdsTable: TableFeature = {
  name: "public-ids",
  compile: () => ({
    forwarding: (name, declared) => {
      const paths = fieldPathsOf(name, declared);
      if (!paths.ok) throw new Error(`the fields of ${name} were not checked: ${paths.error.reason}`);
      return { publicFields: paths.value, otherBodies: paths.value && (declared.otherBodies ?? "pass") };
    },
    entity: (_, declared) => ({ public: publicKindOf(declared?.public) }),
    reading: (declared) => (declared?.public === undefined ? undefined : PUBLIC_READING),
    table: (table) => {
      const shown = viewOf(table);
      return { reading: shown && publicReadingOf(shown) };
    },
  }),
};

declare module "../../../routing/table.ts" {
  interface Entity {
    /** Set: clients see public IDs of this entity only. */
    readonly public?: PublicKind | undefined;
    /** Where IDs of public entities are in JSON responses. */
    readonly publicFields?: FieldPaths | undefined;
    /** The rule for a response that is not JSON, where there are `publicFields`. */
    readonly otherBodies?: "pass" | "refuse" | undefined;
  }
}
