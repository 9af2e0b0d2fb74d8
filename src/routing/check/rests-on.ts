import type { Draft } from "../draft.ts";
import { type Fault, pointerTo } from "../faults.ts";
import { groupBy, type IdPlan, idPlansOf, ownerKeyOf } from "../layout-plans.ts";
import type { DeclaredConditions } from "../schema.ts";

/** Whether a route's conditions rest on numbers that are at fault already. */
export type DependsOnFault = (when: DeclaredConditions) => boolean;

/**
 * One mistake is one fault: a route on a country or an entity whose number is at fault may only look unreachable. Of two
 * that share a number either may be the wrong one, so both count.
 */
export const dependsOnFault = (draft: Draft, faults: readonly Fault[]): DependsOnFault => {
  const pointers = faults.map(({ pointer }) => pointer);
  const countries = countriesAtFault(draft, new Set(pointers));
  const ids = idsAtFault(draft, new Set(pointers.map(toEntry)));
  if (countries.size === 0 && ids.length === 0) return () => false;
  const layouts = new Set(ids.map(({ layout }) => layout));
  const idsByEntity = groupBy(ids, ({ entity }) => entity);
  return (when) => {
    if (namesIn(when.country).some((code) => countries.has(code))) return true;
    const wanted = when.layout === undefined ? layouts : new Set(namesIn(when.layout));
    if (when.entity === undefined) return [...wanted].some((name) => layouts.has(name));
    return namesIn(when.entity).some((name) => idsByEntity.get(name)?.some(({ layout }) => wanted.has(layout)));
  };
};

const namesIn = (names: string | readonly string[] = []): readonly string[] => [names].flat();

/** `/entities/order/ids/0` for whatever is below it. */
const toEntry = (pointer: string): string => pointer.split("/").slice(0, 5).join("/");

const countriesAtFault = ({ countries }: Draft, pointers: ReadonlySet<string>): ReadonlySet<string> => {
  const wrong = [...countries].filter(([code]) => pointers.has(pointerTo(["countries", code])));
  const numbers = new Set(wrong.map(([, number]) => number));
  return new Set([...countries].flatMap(([code, number]) => (numbers.has(number) ? [code] : [])));
};

const idsAtFault = (draft: Draft, pointers: ReadonlySet<string>): readonly IdPlan[] => {
  const claims = groupBy(idPlansOf(draft), (id) => JSON.stringify([id.layout, ownerKeyOf(id)]));
  const isWrong = ({ entity, place }: IdPlan): boolean => pointers.has(pointerTo(["entities", entity, "ids", place]));
  return [...claims.values()].filter((ids) => ids.some(isWrong)).flat();
};
