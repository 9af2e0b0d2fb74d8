import type { EntityLocation } from "../../routing/moves/steps.ts";

/** The stages of a move as docs/guides/move-entities.md has them: what holds, what is to be done, and what is safe when. */
export interface Stage {
  readonly state: EntityLocation["state"];
  readonly name: string;
  readonly holds: string;
  /** At this stage alone, in this order. */
  readonly todo: readonly string[];
  /** When the next step is safe. */
  readonly safe: string;
}

/** `key`: the ID that regions are told. */
export function stagesOf(key: string, at: EntityLocation): readonly Stage[] {
  const epoch = "epoch" in at && at.epoch !== undefined ? at.epoch : undefined;
  const call = (name: string, ...more: readonly string[]) =>
    `${name}(${[key, epoch === undefined ? "its epoch" : `${epoch}`, ...more].join(", ")})`;
  const { from, to } =
    "from" in at ? at : { from: "the old region", to: "region" in at && at.region ? at.region : "the new region" };
  return [
    {
      state: "routed",
      name: "At rest",
      holds: "The routes say its region. Reads and writes go there.",
      todo: [],
      safe: "Start is safe at any time: nothing changes for clients, and it can be aborted.",
    },
    {
      state: "started",
      name: "Started",
      holds: "Reads and writes go to the old region, whatever the routes become.",
      todo: [`Copy its data from ${from} to ${to}, for as long as that takes.`],
      safe: "Fence is safe at any time, and best when little is left to copy: writes pause from then on. It can be aborted.",
    },
    {
      state: "fenced",
      name: "Fenced",
      holds:
        "Reads go to the old region. Gateways refuse writes, but older tables are in use for a minute or more: only the old region's own fence stops writes.",
      todo: [
        `Call ${call("fence")} in ${from}, and wait for its response.`,
        "Copy what is left. Only a copy after that response is the last one.",
        `Call ${call("take", "data")} in ${to}, and wait for its response.`,
      ],
      safe: "Switch is safe when both calls have responded; before that, acknowledged writes are lost. Until then it can be aborted.",
    },
    {
      state: "moved",
      name: "Switched",
      holds: "Reads and writes go to the new region. There is no way back but another move.",
      todo:
        epoch === undefined
          ? []
          : [
              `Call ${call("open")} in ${to}.`,
              `After it, call ${call("leave", to)} in the region that it left.`,
              "After an abort the order is the other: leave where a copy is, then open.",
            ],
      safe: "Finish and the next move are safe when both calls have responded. Until then gateways with older tables read old data.",
    },
  ];
}
