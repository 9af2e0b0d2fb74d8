import { setTimeout as delay } from "node:timers/promises";
import { PROBE_ID } from "../table.ts";
import { ask, askOneOf, type Target } from "./ask.ts";
import { Paced } from "./paced.ts";
import { Counting, quantileOf, type Tally } from "./tally.ts";

export interface PublicationsReport extends Tally {
  readonly p50InForceMs: number;
  readonly maxInForceMs: number;
  /** Edges that answered by an older table after a newer one. */
  readonly backwards: number;
}

const DEADLINE_MS = 15_000;
const PROBE_MS = 20;
/** A publication that is nowhere after this is not counted as in force; an edge may be cut off. */
const IN_FORCE_MAX_MS = 10_000;

export interface Publishing {
  /** Table texts, which send the probe to these regions, in turn. */
  readonly texts: readonly (readonly [region: string, text: string])[];
  readonly token: string;
  readonly perSecond: number;
}

/** Publications through the edges in turn, each watched until every edge decides by it. */
export class Publications {
  readonly #counting = new Counting();
  readonly #paced: Paced;
  readonly #targets: readonly Target[];
  readonly #inForceMs: number[] = [];
  readonly #revisions = new Map<string, number>();
  #backwards = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(targets: readonly Target[], { texts, token, perSecond }: Publishing) {
    this.#targets = targets;
    // One after the other, however long it takes.
    this.#paced = new Paced(perSecond, (at) => {
      const [region, text] = texts[at % texts.length] as readonly [string, string];
      this.#running = this.#running.then(() =>
        this.#paced.isOver ? undefined : this.publish(at, region, text, token),
      );
      return this.#running;
    });
    this.#paced.start();
  }

  stop = () => this.#paced.stop();

  report(): PublicationsReport {
    return {
      ...this.#counting.tally(),
      p50InForceMs: quantileOf(this.#inForceMs, 0.5),
      maxInForceMs: Math.max(...this.#inForceMs, Number.NEGATIVE_INFINITY),
      backwards: this.#backwards,
    };
  }

  async publish(at: number, region: string, text: string, token: string): Promise<void> {
    const authorization = `Bearer ${token}`;
    const page = { path: "/-/table", deadlineMs: DEADLINE_MS };
    const now = await askOneOf(this.#targets, at, { ...page, method: "GET", headers: { authorization } });
    const headers = { authorization, "if-match": String(now.headers["etag"]) };
    const startMs = performance.now();
    const answer = await askOneOf(this.#targets, at, { ...page, method: "PUT", headers, body: text });
    this.#counting.add(`PUT ${answer.outcome}`, answer.status === 201, answer.startedAtMs);
    if (answer.status !== 201) return;
    await Promise.all(this.#targets.map((target) => this.#untilInForce(target, region, authorization, startMs)));
  }

  async #untilInForce(target: Target, region: string, authorization: string, startMs: number): Promise<void> {
    while (performance.now() - startMs < IN_FORCE_MAX_MS && !this.#paced.isOver) {
      const headers = { "waybill-debug": "1", authorization };
      const answer = await ask(target, { method: "GET", path: `/probes/${PROBE_ID}`, headers, deadlineMs: 2_000 });
      this.#watch(target, String(answer.headers["waybill-table"] ?? ""));
      if (answer.status === 200 && (JSON.parse(answer.body) as { region?: string }).region === region) {
        this.#inForceMs.push(performance.now() - startMs);
        return;
      }
      await delay(PROBE_MS);
    }
  }

  #watch({ name }: Target, field: string): void {
    const revision = Number(/\brev=(\d+)/.exec(field)?.[1] ?? Number.NaN);
    if (Number.isNaN(revision)) return;
    const before = this.#revisions.get(name) ?? 0;
    if (revision < before) this.#backwards += 1;
    else this.#revisions.set(name, revision);
  }
}
