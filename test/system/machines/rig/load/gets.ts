import { COUNTRY_CODES, hotguidOf, isFixedKey, iuid, type Region, regionOfKey, regionOfOrder } from "../table.ts";
import { ask, askOneOf, type Target } from "./ask.ts";
import { Paced } from "./paced.ts";
import { Counting, quantileOf, type Tally } from "./tally.ts";

export interface GetsReport extends Tally {
  /** Answers that came from another region than the ID's. */
  readonly misroutes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface GetsOptions {
  readonly perSecond: number;
  /** As behind a proxy that passes over edges that cannot be reached. */
  readonly isBalanced?: boolean | undefined;
  /** Parcels by so many shard keys, in place of orders. */
  readonly keys?: number | undefined;
}

const DEADLINE_MS = 30_000;

/** Proxied GETs by ID. Each must be answered, by the ID's own region. */
export class Gets {
  readonly #counting = new Counting();
  readonly #paced: Paced;
  readonly #ms: number[] = [];
  #misroutes = 0;

  constructor(targets: readonly Target[], { perSecond, isBalanced = false, keys }: GetsOptions) {
    this.#paced = new Paced(perSecond, async (at) => {
      const [path, expected] = keys === undefined ? anOrder(at) : aParcel(keys);
      const asking = { method: "GET", path, deadlineMs: DEADLINE_MS };
      // Each edge gets all countries.
      const first = Math.floor(at / COUNTRY_CODES.length) % targets.length;
      const answer = await (isBalanced ? askOneOf(targets, first, asking) : ask(targets[first] as Target, asking));
      const region = answer.status === 200 ? (JSON.parse(answer.body) as { readonly region: string }).region : expected;
      if (region !== expected) this.#misroutes += 1;
      this.#counting.add(answer.outcome, answer.status === 200, answer.startedAtMs);
      this.#ms.push(answer.ms);
    });
    this.#paced.start();
  }

  stop = () => this.#paced.stop();

  report(): GetsReport {
    const [p50Ms, p99Ms] = [quantileOf(this.#ms, 0.5), quantileOf(this.#ms, 0.99)];
    return { ...this.#counting.tally(), misroutes: this.#misroutes, p50Ms, p99Ms };
  }
}

function anOrder(at: number): readonly [path: string, region: Region | undefined] {
  const country = COUNTRY_CODES[at % COUNTRY_CODES.length] as string;
  const id = iuid(country, 1, Date.now() - Math.floor(Math.random() * 1e10), Math.random() * 2 ** 48);
  return [`/orders/${id}`, regionOfOrder(id)];
}

function aParcel(keys: number): readonly [path: string, region: Region | undefined] {
  for (;;) {
    const key = Math.floor(Math.random() * keys);
    if (isFixedKey(key)) return [`/parcels/${hotguidOf(key, Math.random() * 2 ** 52)}`, regionOfKey(key)];
  }
}
