import { askOneOf, type Target } from "./ask.ts";
import { Paced } from "./paced.ts";
import { Counting, type Tally } from "./tally.ts";

export interface MintsReport extends Tally {
  readonly ids: number;
  readonly duplicates: readonly string[];
}

const DEADLINE_MS = 10_000;
/** The last 60 bits of an LUUID are random or its region's: primary key and group must differ. */
const KEY_CHARACTERS = 18;

/** Mints of LUUIDs: no primary key comes twice in the life of a trial, over all its rows. */
export class Mints {
  readonly #counting = new Counting();
  readonly #paced: Paced;
  readonly #duplicates: string[] = [];
  #ids = 0;

  /** `seen`: keys of all mints before. */
  constructor(targets: readonly Target[], perSecond: number, count: number, seen: Set<string>) {
    this.#paced = new Paced(perSecond, async (at) => {
      const body = JSON.stringify({ entity: "person", count });
      const answer = await askOneOf(targets, at, { method: "POST", path: "/mint", body, deadlineMs: DEADLINE_MS });
      this.#counting.add(answer.outcome, answer.status === 201, answer.startedAtMs);
      if (answer.status !== 201) return;
      for (const id of (JSON.parse(answer.body) as { readonly ids: readonly string[] }).ids) {
        const key = id.slice(0, KEY_CHARACTERS);
        if (seen.has(key)) this.#duplicates.push(id);
        seen.add(key);
        this.#ids += 1;
      }
    });
    this.#paced.start();
  }

  stop = () => this.#paced.stop();

  report(): MintsReport {
    return { ...this.#counting.tally(), ids: this.#ids, duplicates: this.#duplicates.slice(0, 20) };
  }
}
