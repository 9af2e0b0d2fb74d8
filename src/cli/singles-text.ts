import {
  formatPlace,
  type OverrideChange,
  type OverridesDiff,
  type OverrideTarget,
  type Undone,
  type UndoneSteps,
} from "../routing/diff-singles.ts";
import { alignColumns } from "./columns.ts";
import { formatCount } from "./grouped.ts";
import { escapeControls } from "./printable.ts";

/** The entities that go elsewhere, a line each; of many the first ones, and sums by where they go. */
export const formatOverrides = ({ changed, listed, changes }: OverridesDiff): readonly string[] => {
  const each = alignColumns(listed.map((change) => overrideCells(change).map(escapeControls)));
  if (changed === listed.length) return each;
  const sums = changes.map(({ entity = "(no entity)", from, to, entities }) =>
    [entity, `${from} → ${to}`, entities === 1 ? "1 entity" : `${formatCount(entities)} entities`].map(escapeControls),
  );
  return [...alignColumns(sums), ...each, `… and ${formatCount(changed - listed.length)} more`];
};

const overrideCells = ({ id, entity = "(no entity)", before, after }: OverrideChange): readonly string[] => [
  id,
  entity,
  `${formatPlace(before)} → ${formatPlace(after)}`,
  `${formatReason(before)} → ${formatReason(after)}`,
];

/** `moved, epoch 3`. */
const formatReason = ({ by, epoch }: OverrideTarget): string => (epoch === undefined ? by : `${by}, epoch ${epoch}`);

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

export const formatUndone = ({ kind, entities, ids }: UndoneCount): string => {
  const rest = entities > ids.length ? ", …" : "";
  const whose = `${entities === 1 ? "1 entity" : `${formatCount(entities)} entities`} (${ids.join(", ")}${rest})`;
  return escapeControls(`${whose}: ${WHAT[kind]}`);
};

const WHAT: Readonly<Record<Undone, string>> = {
  "move-lost": "the entry of a move is no more, so the routes decide again, and regions may refuse what comes",
  "epoch-falls": "the epoch falls, so regions refuse what comes; undo a move by a new one",
  "epoch-stands": "another step has the same epoch, so regions cannot tell the two apart; raise it with each",
  "no-longer-gone": "was gone for good, and is not any more",
};
