import { InvalidArgumentError } from "commander";
import { err, ok, type Result } from "../ids/index.ts";
import type { DeclaredTable } from "../routing/schema.ts";
import { unknownNames } from "../routing/table-canary.ts";
import type { Audience } from "./gateway-answers.ts";
import type { TableFile } from "./table-file.ts";

/** The options that say whom a canary of the whole table is for. */
export interface SelectorOptions {
  /** In percent. */
  readonly share?: number;
  readonly country?: readonly string[];
  readonly entity?: readonly string[];
}

/** Whom the canary is for: one of the three, never a guess. */
export const readSelector = ({ share, country, entity }: SelectorOptions): Result<Audience, string> => {
  const said = [share, country, entity].filter((part) => part !== undefined);
  if (said.length !== 1) return err("error: say one of --share, --country and --entity\n");
  if (share === 0) return err("error: a canary of 0 % serves nobody\n");
  if (share !== undefined) return ok({ share });
  return ok(country === undefined ? { entities: [...(entity ?? [])] } : { countries: [...country] });
};

type Named = Pick<TableFile<DeclaredTable>, "name" | "table">;

/** Names of the audience that no table has: a canary for them would serve nobody. */
export const unknownNameMessage = (audience: Audience, inForce: Named, file: Named): string | undefined => {
  const { countries, entities } = audience;
  const tables = [inForce, file].map(({ table }) => ({
    countries: new Set(Object.keys(table.countries ?? {})),
    entities: new Set(Object.keys(table.entities)),
  }));
  const [stable] = tables;
  if (countries !== undefined) {
    const strange = unknownNames({ countries: [...countries] }, tables);
    const has = [...(stable?.countries ?? [])].join(", ");
    return strange.length === 0
      ? undefined
      : `error: --country ${strange.join(",")}: ${inForce.name}, which is in force, has only ${has || "none"}\n`;
  }
  if (entities === undefined) return undefined;
  const strange = unknownNames({ entities: [...entities] }, tables);
  return strange.length === 0
    ? undefined
    : `error: --entity ${strange.join(",")}: neither ${inForce.name} nor ${file.name} has such an entity\n`;
};

/** Values of an option that can be repeated and takes a list with commas, so that it never takes the file for one. */
export const addCountries = (text: string, before: readonly string[] = []): readonly string[] => {
  const codes = text.split(",");
  if (codes.every((code) => /^[A-Z]{2}$/.test(code))) return [...before, ...codes];
  throw new InvalidArgumentError("Write ISO 3166-1 codes of two capital letters, with commas between: KZ,UZ.");
};

export const addEntities = (text: string, before: readonly string[] = []): readonly string[] => {
  const names = text.split(",");
  if (names.every((one) => /^[A-Za-z][A-Za-z0-9_-]*$/.test(one))) return [...before, ...names];
  throw new InvalidArgumentError("Write names of entities, with commas between: order,ride.");
};
