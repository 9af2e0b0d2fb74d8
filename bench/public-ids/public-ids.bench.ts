import { decodePublic, encodePublic, keyRing, openId, sealId, sealRing } from "../../src/ids/public/index.ts";
import { needed } from "../lib/random.ts";
import type { Bench, BenchOptions, Section } from "../lib/report.ts";
import { type Candidate, sample } from "../lib/sample.ts";
import { acceptance } from "./acceptance.ts";
import { publicBody } from "./rewrite-body.ts";

/** Public IDs: acceptance of forged texts, cost of an ID, cost of a large body. */
export const publicIdsBench: Bench = {
  name: "public-ids",
  run: async (options) => [
    acceptance(options.progress),
    await speed(options),
    publicBody(options.rounds, options.progress),
  ],
};

const KEY = { id: "key", key: new Uint8Array(32).fill(1) };
const AES_BLOCK = "one AES-256 block";

async function speed({ rounds, sampleMs, progress }: BenchOptions): Promise<Section> {
  const onRound = (round: number) => progress(`Public IDs: round ${round} of ${rounds}`);
  const sampled = await sample(candidates(), { rounds, sampleMs, onRound });
  return {
    title: "Public IDs in Node",
    note: `Median (range) over ${rounds} round(s), ${sampleMs} ms each. The ratio is to one AES block.`,
    columns: ["work", "ns", "x"],
    rows: sampled.map(({ name, nsPerRun, ratio }) => [name, nsPerRun, ratio ?? null]),
  };
}

function candidates(): readonly Candidate[] {
  const ring = needed(keyRing([KEY]));
  const seals = needed(sealRing([KEY], "order"));
  const kind = { type: "decimal", form: "base62" } as const;
  const decimal = (index: number) => 1_088_824_355_131_185_736_905_670_087n + BigInt(index);
  const publicText = needed(encodePublic(ring, decimal(0), kind));
  const sealedText = needed(sealId(seals, [1, 2, 3, 4]));
  const times = (step: (index: number) => number) => (count: number) => {
    let sum = 0;
    for (let index = 0; index < count; index++) sum += step(index);
    return sum;
  };
  return [
    { name: AES_BLOCK, run: times((index) => ring.keys[0].encrypt([1, 2, 3, index])[0] ?? 0) },
    {
      name: "encode a decimal, base62",
      against: AES_BLOCK,
      run: times((index) => needed(encodePublic(ring, decimal(index), kind)).length),
    },
    {
      name: "decode a decimal, base62",
      against: AES_BLOCK,
      run: times(() => needed(decodePublic(ring, publicText, kind)).key.length),
    },
    {
      name: "seal 128 bits",
      against: AES_BLOCK,
      run: times((index) => needed(sealId(seals, [1, 2, 3, index])).length),
    },
    { name: "open 128 bits", against: AES_BLOCK, run: times(() => needed(openId(seals, sealedText)).key.length) },
  ];
}
