import {
  type Layout,
  type MintError,
  type MinterState,
  mintNext,
  ok,
  type RandomWords,
  type Result,
  startMinter,
  type Words,
} from "../ids/index.ts";
import type { Clock } from "../ports.ts";
import type { MintOrder } from "../routing/mint-plan.ts";

/**
 * Minters remembered at once, for the order of their IDs. Beyond, the one that was used least lately is forgotten: its next ID begins
 * with fresh random bits, and is then new by chance as the IDs of two isolates are, but no longer surely after its last one.
 */
export const MINTERS_MAX = 1024;

interface Remembered {
  readonly layout: Layout;
  readonly state: MinterState;
}

/** Minting for layouts whose random bits keep isolates apart: each minter of this isolate goes on from its last ID. */
export function randomMinter({ clock, entropy }: { readonly clock: Clock; readonly entropy: RandomWords }) {
  const remembered = new Map<string, Remembered>();

  const remember = (name: string, minter: Remembered): void => {
    // Set anew, it is the last of the map; the first is the one that was used least lately.
    remembered.delete(name);
    remembered.set(name, minter);
    if (remembered.size > MINTERS_MAX) remembered.delete(remembered.keys().next().value as string);
  };

  return ({ layout, keys }: MintOrder, count: number): Result<readonly Words[], MintError> => {
    const name = [layout.name, ...Object.values(keys)].join("/");
    const known = remembered.get(name);
    const started = known?.layout === layout ? ok(known.state) : startMinter(layout, keys);
    // The plan has a value for each key that its field holds.
    if (!started.ok) throw new Error(`no minter of ${layout.name}: ${started.error.reason}`);
    let state = started.value;
    const ids: Words[] = [];
    const nowMs = clock.nowMs();
    while (ids.length < count) {
      const minted = mintNext(state, nowMs, entropy);
      if (!minted.ok) return minted;
      state = minted.value.state;
      // Kept at each step: an ID that was made counts as given, even when a later one of the batch fails.
      remember(name, { layout, state });
      ids.push(minted.value.words);
    }
    return ok(ids);
  };
}
