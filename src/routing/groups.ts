import { groupOfClass } from "../ids/index.ts";
import type { DeclaredEntityId } from "./schema.ts";

/** The LUUID group that an entity's `ids` entry declares, by number or by class name. */
export const groupOfId = ({ group, class: className }: DeclaredEntityId): number | undefined =>
  group ?? (className === undefined ? undefined : groupOfClass(className));
