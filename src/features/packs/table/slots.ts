import type { CompiledTable } from "../../../routing/table.ts";
import type { PackSlot } from "./pack.ts";

const NO_PACKS: ReadonlyMap<string, PackSlot> = new Map();

/** The packs of a table, by name. */
export const slotsOf = ({ packs = NO_PACKS }: Pick<CompiledTable, "packs">): ReadonlyMap<string, PackSlot> => packs;
