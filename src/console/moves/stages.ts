import type { EntityLocation } from "../../routing/moves/steps.ts";

/** The stages of a move as docs/guides/move-entities.md has them: what holds, what is to be done, and what is safe when. */
export interface Stage {
  readonly state: EntityLocation["state"];
  readonly name: string;
  readonly holds: string;
  /** At this stage alone, in this order. */
  readonly todo: readonly Todo[];
  /** The loss if the next step comes before all of it is done; absent where any time is safe. */
  readonly danger?: string;
  /** When the next step is safe. */
  readonly safe: string;
  /** The way back from here. */
  readonly undo: string;
}

/** One thing to do at a region or between two. The next step stays shut until it is ticked. */
export interface Todo {
  readonly text: string;
  /** To be sent to the region. */
  readonly call?: string;
  /** In a list: the one that is waited for. */
  readonly waits: string;
}

/** `key`: the ID that regions are told. */
export function stagesOf(key: string, at: EntityLocation): readonly Stage[] {
  const { from, to } = regionsOf(at);
  const epoch = "epoch" in at && at.epoch !== undefined ? at.epoch : undefined;
  const move: Move = {
    from,
    to,
    isTold: epoch !== undefined,
    call: (name, ...more) => `${name}(${[key, epoch === undefined ? "its epoch" : `${epoch}`, ...more].join(", ")})`,
  };
  return [routed(from), started(move), fenced(move), switched(move)];
}

/** Before a move its target is not known, and after it the region that it left. */
function regionsOf(at: EntityLocation): { readonly from: string; readonly to: string } {
  if ("from" in at) return at;
  const region = "region" in at ? at.region : undefined;
  return at.state === "routed"
    ? { from: region ?? "no region", to: "the new region" }
    : { from: "the region that it left", to: region ?? "the new region" };
}

interface Move {
  readonly from: string;
  readonly to: string;
  /** Its entry has an epoch: regions know of the move. */
  readonly isTold: boolean;
  /** A call as the operator sends it. */
  call(name: string, ...more: readonly string[]): string;
}

const routed = (home: string): Stage => ({
  state: "routed",
  name: `At home in ${home}`,
  holds: "The routes say its region. Reads and writes go there.",
  todo: [],
  safe: "Start is safe at any time: nothing changes for clients.",
  undo: "A move that was started can be aborted.",
});

const started = ({ from, to }: Move): Stage => ({
  state: "started",
  name: "Started",
  holds: `Reads and writes stay in ${from}, whatever the routes become, while its data is copied to ${to} for as long as that takes.`,
  todo: [],
  safe: "Fence is safe at any time, and best when little is left to copy: writes pause from then on.",
  undo: `Abort is safe: clients notice nothing. If ${to} has a copy, call leave there; then open in ${from}.`,
});

const fenced = ({ from, to, call }: Move): Stage => ({
  state: "fenced",
  name: "Fenced",
  holds: `Reads go to ${from}. Gateways refuse writes with 503, but older tables are in use for a minute or more: only the old region's own fence stops writes.`,
  todo: [
    { text: `${from} answered fence`, call: call("fence"), waits: `fence in ${from}` },
    { text: "The rest was copied after that answer", waits: "the last copy" },
    { text: `${to} answered take`, call: call("take", "data"), waits: `take in ${to}` },
  ],
  danger: `Before ${to} has answered, a switch loses writes that clients believe to be stored.`,
  safe: "Switch is safe when both regions have answered.",
  undo: `Abort is safe until the switch: writes go on in ${from}. Then call leave in ${to} if it has a copy, and open in ${from}.`,
});

const switched = ({ to, isTold, call }: Move): Stage => ({
  state: "moved",
  name: `Switched to ${to}`,
  holds: `Reads and writes go to ${to}.`,
  todo: isTold
    ? [
        { text: `${to} answered open`, call: call("open"), waits: `open in ${to}` },
        {
          text: "After it, the region that it left answered leave",
          call: call("leave", to),
          waits: "leave in the region that it left",
        },
      ]
    : [],
  ...(isTold && {
    danger: "Until both have answered, gateways with older tables read old data, and the next move may lose writes.",
  }),
  safe: "After an abort the order is the other: leave where a copy is, then open.",
  undo: "No way back but another move.",
});

/** Its number from 1, of four. */
export const stepOf = ({ state }: Pick<EntityLocation, "state">): number =>
  ({ routed: 1, started: 2, fenced: 3, moved: 4, gone: 4 })[state];
