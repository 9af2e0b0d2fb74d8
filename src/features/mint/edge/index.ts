import { mintDoor } from "../../../edge/auth/access.ts";
import type { PlatformFeature } from "../../../edge/feature.ts";
import { writeEvent } from "../../../edge/log.ts";
import { thinObject } from "../../../edge/thin-object.ts";
import { loadable } from "../../../problems/loadable.ts";
import type { SequenceRpc, SequenceUse } from "./sequences.ts";

/** The implementation is loaded with the first object. */
export class SequenceBlocks extends thinObject<SequenceRpc>(
  { namespace: "SEQUENCES", module: "sequence-object" },
  async () => {
    const module = await import("./object.ts");
    return (context, env) => new module.SequenceBlocks(context, env);
  },
  { reserve: "patient", list: "prompt", listed: "prompt" },
) {}

export const mint = {
  name: "mint",
  ports({ env, config, clock, entropy, counters, authenticate, tokenKeys }) {
    const onUse = ({ name, last, max, percent, isFirst }: SequenceUse): void => {
      counters.count("sequence_blocks", name, String(percent));
      // At 90 and 99 percent of its range: beyond the last number nothing is minted.
      if (isFirst) writeEvent("sequence-nearly-used", { sequence: name, percent, last, max });
    };
    // Most isolates mint nothing.
    const minters = loadable("minters", async () => {
      const [{ isolateMinters }, { durableSequences }] = await Promise.all([
        import("./minters.ts"),
        import("./sequences.ts"),
      ]);
      const sequences = durableSequences(env.SEQUENCES, { onUse });
      return isolateMinters({ clock, entropy, sequences, primaryKeys: config.primaryKeys });
    });
    return {
      minters: {
        mint: async (order, count) => minters.run((own) => own.mint(order, count)),
        sample: async (order, count) => minters.run((own) => own.sample(order, count)),
      },
      mintDoor: mintDoor(config.mint, authenticate, tokenKeys),
    };
  },
} satisfies PlatformFeature;
