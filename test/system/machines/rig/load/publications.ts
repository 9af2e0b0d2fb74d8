import { setTimeout as delay } from "node:timers/promises";
import { PROBE_ID } from "../table.ts";
import { type Answered, ask, askOneOf, type Target } from "./ask.ts";
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
const IN_FORCE_MAX_MS = 60_000;

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
    const { answer, startMs } = await putTable(this.#targets, at, text, token);
    this.#counting.add(answer.outcome, answer.status === 201, answer.startedAtMs);
    if (answer.status !== 201) return;
    const watch = { isOver: () => this.#paced.isOver, seen: (target: Target, rev: number) => this.#watch(target, rev) };
    const revision = revisionOf(answer);
    const all = await Promise.all(
      this.#targets.map((target) => untilInForce(target, { revision, region, token, startMs, ...watch })),
    );
    this.#inForceMs.push(...all.filter((ms) => ms !== undefined));
  }

  #watch({ name }: Target, revision: number): void {
    const before = this.#revisions.get(name) ?? 0;
    if (revision < before) this.#backwards += 1;
    else this.#revisions.set(name, revision);
  }
}

/** Publishes on top of what is in force, through one of the edges. */
export async function putTable(targets: readonly Target[], at: number, text: string, token: string) {
  const authorization = `Bearer ${token}`;
  const page = { path: "/-/table", deadlineMs: DEADLINE_MS };
  const now = await askOneOf(targets, at, { ...page, method: "GET", headers: { authorization } });
  if (now.status !== 200) return { answer: now, startMs: performance.now() };
  const headers = { authorization, "if-match": String(now.headers["etag"]) };
  const startMs = performance.now();
  return { answer: await askOneOf(targets, at, { ...page, method: "PUT", headers, body: text }), startMs };
}

/** The revision that a publication became. */
export const revisionOf = ({ body }: Answered): number => (JSON.parse(body) as { readonly revision: number }).revision;

interface Watched {
  readonly revision: number;
  /** Where the table sends the probe. */
  readonly region: string;
  readonly token: string;
  readonly startMs: number;
  readonly isOver?: () => boolean;
  readonly seen?: (target: Target, revision: number) => void;
}

/** Milliseconds until an edge decides by the table; `undefined` if it did not in time. */
export async function untilInForce(target: Target, watched: Watched): Promise<number | undefined> {
  const { region, token, startMs, isOver = () => false, seen } = watched;
  const headers = { "waybill-debug": "1", authorization: `Bearer ${token}` };
  while (performance.now() - startMs < IN_FORCE_MAX_MS && !isOver()) {
    const answer = await ask(target, { method: "GET", path: `/probes/${PROBE_ID}`, headers, deadlineMs: 2_000 });
    const revision = Number(/\brev=(\d+)/.exec(String(answer.headers["waybill-table"] ?? ""))?.[1] ?? Number.NaN);
    if (!Number.isNaN(revision)) seen?.(target, revision);
    const isDecided = answer.status === 200 && (JSON.parse(answer.body) as { region?: string }).region === region;
    if (isDecided && revision >= watched.revision) {
      return performance.now() - startMs;
    }
    await delay(PROBE_MS);
  }
  return undefined;
}
