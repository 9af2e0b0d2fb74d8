import { type Signal, signal } from "@preact/signals";
import { announcement } from "../../app/announce.ts";
import type { Problem } from "../../app/api.ts";
import { gatewayNow } from "../../app/clock.ts";
import { plural } from "../../app/words.ts";
import { askMany, type Located } from "../ask.ts";
import { areSame, type PastedList } from "../read-pasted.ts";
import { isSameAlone, type Reader } from "../reader.ts";

/** The state of a list, and the answers of the gateway about it: a click or Back loses none of it. */

export interface ListState {
  readonly list: PastedList;
  readonly located: Signal<readonly Located[]>;
  readonly asking: Signal<Problem | "busy" | undefined>;
  /** When the gateway said it, Unix ms. */
  readonly askedAtMs: Signal<number | undefined>;
  /** A group of rows; `undefined`: all. */
  readonly filter: Signal<string | undefined>;
  /** Pixels that are scrolled away. */
  top: number;
}

/** The list of the look-up, and one that was minted. */
const KEPT_MAX = 3;

let kept: readonly ListState[] = [];

export function stateOf(list: PastedList): ListState {
  const known = kept.find((each) => areSame(each.list, list));
  if (known !== undefined) return known;
  const state: ListState = {
    list,
    located: signal([]),
    asking: signal(undefined),
    askedAtMs: signal(undefined),
    filter: signal(undefined),
    top: 0,
  };
  kept = [state, ...kept].slice(0, KEPT_MAX);
  return state;
}

/** Goes on where it stopped; a list that was asked to its end is asked again. */
export async function askList(state: ListState, reader: Reader): Promise<void> {
  const { list, located, asking, askedAtMs } = state;
  if (asking.value === "busy") return;
  if (located.value.length === list.items.length) located.value = [];
  asking.value = "busy";
  const nowMs = gatewayNow();
  const isSame = (item: PastedList["items"][number]): boolean => isSameAlone(reader, item, nowMs);
  const problem = await askMany(list.items, located.value, isSame, (more) => {
    located.value = more;
    askedAtMs.value = gatewayNow();
    return kept.includes(state);
  });
  asking.value = problem;
  announcement.value = problem?.title ?? `The gateway said the regions of ${plural(list.items.length, "ID")}.`;
}
