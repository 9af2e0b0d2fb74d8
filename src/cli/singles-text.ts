import {
  placeText,
  type SingleChange,
  type SingleGoal,
  type SinglesDiff,
  type Undone,
  type UndoneSteps,
} from "../routing/diff-singles.ts";
import { alignColumns } from "./columns.ts";
import { grouped } from "./grouped.ts";
import { printable } from "./printable.ts";

/** The entities that go elsewhere, a line each; of many the first ones, and sums by where they go. */
export const singlesLines = ({ changed, listed, changes }: SinglesDiff): readonly string[] => {
  const each = alignColumns(listed.map((change) => singleCells(change).map(printable)));
  if (changed === listed.length) return each;
  const sums = changes.map(({ entity = "(no entity)", from, to, entities }) =>
    [entity, `${from} → ${to}`, entities === 1 ? "1 entity" : `${grouped(entities)} entities`].map(printable),
  );
  return [...alignColumns(sums), ...each, `… and ${grouped(changed - listed.length)} more`];
};

const singleCells = ({ id, entity = "(no entity)", before, after }: SingleChange): readonly string[] => [
  id,
  entity,
  `${placeText(before)} → ${placeText(after)}`,
  `${reasonText(before)} → ${reasonText(after)}`,
];

/** `moved, epoch 3`. */
const reasonText = ({ by, epoch }: SingleGoal): string => (epoch === undefined ? by : `${by}, epoch ${epoch}`);

/** Undone steps of one kind, by the first of their entities. Plain JSON. */
export interface UndoneCount {
  readonly kind: Undone;
  readonly entities: number;
  readonly ids: readonly string[];
}

export const undoneCount = ({ kind, entities, listed }: UndoneSteps): UndoneCount => ({
  kind,
  entities,
  ids: listed.map(({ id }) => id),
});

export const undoneText = ({ kind, entities, ids }: UndoneCount): string => {
  const rest = entities > ids.length ? ", …" : "";
  const whose = `${entities === 1 ? "1 entity" : `${grouped(entities)} entities`} (${ids.join(", ")}${rest})`;
  return printable(`${whose}: ${WHAT[kind]}`);
};

const WHAT: Readonly<Record<Undone, string>> = {
  "move-lost": "the entry of a move is no more, so the routes decide again, and regions may refuse what comes",
  "epoch-falls": "the epoch falls, so regions refuse what comes; undo a move by a new one",
  "epoch-stands": "another step has the same epoch, so regions cannot tell the two apart; raise it with each",
  "no-longer-gone": "was gone for good, and is not any more",
};
