import type { DeclaredTable } from "../routing/schema.ts";
import { escapeControls } from "./printable.ts";

/** Numbers in IDs that mean something else than before: those that exist change with them. Plain JSON. */
export type NumberWarning =
  /** IDs with the number are of another country now; of none where `to` is absent, since the country has another number. */
  | { readonly kind: "country-renumbered"; readonly number: number; readonly from: string; readonly to?: string }
  /** IDs of the layout are another entity's now: those with the number, or all. */
  | {
      readonly kind: "entity-renumbered";
      readonly layout: string;
      readonly mark?: string;
      readonly from: string;
      readonly to: string;
    };

export const numberWarnings = (before: DeclaredTable, after: DeclaredTable): readonly NumberWarning[] => [
  ...countries(before.countries ?? {}, after.countries ?? {}),
  ...entities(before, after),
];

type Numbers = Readonly<Record<string, number>>;

const countries = (before: Numbers, after: Numbers): readonly NumberWarning[] => {
  const now = new Map(Object.entries(after).map(([code, number]) => [number, code]));
  return Object.entries(before).flatMap(([from, number]) => {
    const to = now.get(number);
    if (to === from) return [];
    if (to !== undefined) return [{ kind: "country-renumbered", number, from, to } as const];
    return Object.hasOwn(after, from) ? [{ kind: "country-renumbered", number, from } as const] : [];
  });
};

interface Claim {
  readonly layout: string;
  /** `service 1`; absent where the entity has all IDs of the layout. */
  readonly mark?: string;
  readonly entity: string;
}

/** An entity that has only another name is none of these: its old name is nobody's, and its new one was. */
const entities = (before: DeclaredTable, after: DeclaredTable): readonly NumberWarning[] => {
  const now = claimsIn(after);
  return [...claimsIn(before)].flatMap(([key, { layout, mark, entity: from }]) => {
    const to = now.get(key)?.entity;
    const isRenamed = to !== undefined && !Object.hasOwn(after.entities, from) && !Object.hasOwn(before.entities, to);
    if (to === undefined || to === from || isRenamed) return [];
    return [{ kind: "entity-renumbered", layout, ...(mark === undefined ? {} : { mark }), from, to } as const];
  });
};

/** By layout and number. IDs that several entities may have are told apart by their paths, and are nobody's here. */
const claimsIn = ({ entities: declared }: DeclaredTable): ReadonlyMap<string, Claim> => {
  const claims = new Map<string, Claim>();
  const shared = new Set<string>();
  for (const [entity, { ids }] of Object.entries(declared)) {
    for (const { layout, service, group, class: className } of ids) {
      const marks = { service, group, class: className };
      const [mark] = Object.entries(marks).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name} ${value}`],
      );
      const key = JSON.stringify([layout, mark]);
      const other = claims.get(key);
      if (other !== undefined && other.entity !== entity) shared.add(key);
      claims.set(key, { layout, ...(mark === undefined ? {} : { mark }), entity });
    }
  }
  for (const key of shared) claims.delete(key);
  return claims;
};

export const formatNumberWarning = (warning: NumberWarning): string => {
  if (warning.kind === "country-renumbered") {
    const { number, from, to } = warning;
    return escapeControls(
      to === undefined
        ? `country ${number} was ${from} and is none now: IDs that exist have no country, since ${from} has another number`
        : `country ${number} was ${from} and is ${to} now: IDs that exist change their country`,
    );
  }
  const { layout, mark, from, to } = warning;
  const which = mark === undefined ? `IDs of layout ${layout}` : `${mark} of layout ${layout}`;
  return escapeControls(`${which}: was ${from} and is ${to} now: IDs that exist change their entity`);
};
