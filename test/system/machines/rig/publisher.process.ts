import { setTimeout as delay } from "node:timers/promises";
import { answerCalls } from "./agent.ts";
import type { Target } from "./load/ask.ts";
import { putTable, revisionOf, untilInForce } from "./load/publications.ts";
import { packOfKeys, uploadPack } from "./packs.ts";
import { type Region, regionOfKey, type TableOptions, trialTable } from "./table.ts";

/** Publishes and watches from a process of its own: packs of a million keys are made here, beside the load. */

export interface PublishOptions {
  readonly targets: readonly Target[];
  readonly token: string;
  readonly origins: TableOptions["origins"];
  /** Unlike those before: the probe and every hundredth key move with it. */
  readonly round: number;
  /** Keys in a pack, or routes of single keys. */
  readonly keys: number;
  readonly isPack: boolean;
}

export interface Published {
  /** The pack, to the gateway. */
  readonly uploadMs: number | undefined;
  /** 503 before it was taken. */
  readonly refused: number;
  readonly textBytes: number;
  /** From the PUT of the table until its answer. */
  readonly putMs: number;
  /** From the PUT until each edge decides by it; `undefined`: not within a minute. */
  readonly inForceMs: readonly (number | undefined)[];
}

const REFUSALS_MAX = 10;
const REFUSED_MS = 1_000;

async function publish({ targets, token, origins, round, keys, isPack }: PublishOptions): Promise<Published> {
  const probeTo: Region = round % 2 === 0 ? "eu" : "us";
  const pack = isPack ? await packOfKeys(keys, round) : undefined;
  const uploadStartMs = performance.now();
  if (pack !== undefined) await uploadPack(targets, pack, token);
  const uploadMs = pack === undefined ? undefined : performance.now() - uploadStartMs;
  const parcels =
    pack === undefined
      ? {
          routes: Array.from({ length: keys }, (_, key) => ({
            when: { shardKey: key },
            region: regionOfKey(key, round),
          })),
        }
      : { packs: { shards: pack.declared }, routes: [{ when: { layout: "hotguid" }, pack: "shards" }] };
  const text = JSON.stringify(trialTable({ origins, probeTo, parcels }));
  let { answer, startMs } = await putTable(targets, round, text, token);
  let refused = 0;
  // A large table may take longer to check than the gateway waits on a busy machine.
  for (; answer.status === 503 && refused < REFUSALS_MAX; refused++) {
    await delay(REFUSED_MS);
    ({ answer, startMs } = await putTable(targets, round, text, token));
  }
  if (answer.status !== 201) throw new Error(`PUT /-/table: ${answer.outcome} ${answer.body}`);
  const watched = { revision: revisionOf(answer), region: probeTo, token, startMs };
  const inForceMs = await Promise.all(targets.map((target) => untilInForce(target, watched)));
  return { uploadMs, refused, textBytes: text.length, putMs: answer.ms, inForceMs };
}

const calls = { publish };

export type PublisherCalls = typeof calls;

answerCalls(calls);
