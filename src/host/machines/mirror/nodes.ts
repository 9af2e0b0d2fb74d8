import type { AskNode, NodeAnswer } from "./ask.ts";
import type { Part } from "./folder.ts";
import type { MirrorClock } from "./platform.ts";

/** A node that is silent for this time is left for another. If all are silent, the store behind them may be slow. */
const SILENCES_MS = [1_500, 8_000];

/** Time of the largest value at 300 kB/s. */
const VALUE_DEADLINE_MS = 60_000;

/** For this time after a failure, others are asked first. */
const AVOIDED_MS = 10_000;

/** Reads of values at once: their bytes are in memory. */
const READS_AT_ONCE = 8;

export class MirrorFailure extends Error {
  /** `missing`: state nodes answered that there is no such value. */
  readonly reason: "missing" | "unreachable" | "refused";

  constructor(reason: MirrorFailure["reason"], why: string) {
    super(why);
    this.reason = reason;
  }
}

export const whyOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** `agreed`: optional too, and read of nodes alone that publish what this edge has. A node with another state has another value, or none. */
type Need = "needed" | "optional" | "agreed";

/** The state nodes, as sources of values. Each has all of them. */
export class StateNodes {
  readonly names: readonly string[];
  readonly #ask: AskNode;
  readonly #clock: MirrorClock;
  readonly #failedAtMs = new Map<string, number>();
  readonly #agreed = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #free = READS_AT_ONCE;
  #turn = 0;

  constructor(names: readonly string[], ask: AskNode, clock: MirrorClock) {
    this.names = names;
    this.#ask = ask;
    this.#clock = clock;
  }

  /** They failed and have not answered since. */
  get silent(): readonly string[] {
    return this.names.filter((node) => this.#failedAtMs.has(node));
  }

  /** It publishes what this edge has. */
  answered(node: string): void {
    this.#failedAtMs.delete(node);
    this.#agreed.add(node);
  }

  failed(node: string): void {
    this.#failedAtMs.set(node, this.#clock.nowMs());
    this.#agreed.delete(node);
  }

  /** A verified value. `undefined` for an optional one that a node does not have. */
  async value(part: Part, signal: AbortSignal, need: Need = "needed"): Promise<Uint8Array<ArrayBuffer> | undefined> {
    await this.#enter();
    try {
      return await this.#valueOfAny(part, signal, need);
    } finally {
      this.#leave();
    }
  }

  async #valueOfAny(part: Part, signal: AbortSignal, need: Need) {
    const isAsked = (node: string) => need !== "agreed" || this.#agreed.has(node);
    if (!this.names.some(isAsked))
      throw new MirrorFailure("unreachable", `${part.key}: no state node publishes what this edge has`);
    let failures: string[] = [];
    for (const silenceMs of SILENCES_MS) {
      failures = [];
      for (const node of this.#inTurn().filter(isAsked)) {
        const answer = await this.#valueOf(node, part, silenceMs, signal);
        signal.throwIfAborted();
        if ("bytes" in answer) return answer.bytes;
        if (answer.isMissing && need !== "needed") return undefined;
        failures.push(`${node}: ${answer.why}`);
        if (!answer.isMissing) this.#failedAtMs.set(node, this.#clock.nowMs());
      }
      if (failures.every((why) => why.endsWith(MISSING))) {
        throw new MirrorFailure("missing", `no state node has ${part.key}`);
      }
    }
    throw new MirrorFailure("unreachable", `${part.key}: ${failures.join("; ")}`);
  }

  async #valueOf(node: string, part: Part, silenceMs: number, signal: AbortSignal) {
    const { key, bytesMax } = part;
    const bounds = { bytesMax, silenceMs, deadlineMs: VALUE_DEADLINE_MS, signal };
    let answer: NodeAnswer;
    try {
      answer = await this.#ask(node, `/values/${encodeURIComponent(key)}`, bounds);
    } catch (error) {
      return { why: whyOf(error), isMissing: false };
    }
    if (answer.status === 404) return { why: MISSING, isMissing: true };
    if (answer.status !== 200) return { why: `status ${answer.status}`, isMissing: false };
    if (answer.bytes.length > bytesMax) return { why: `more than ${bytesMax} bytes`, isMissing: false };
    const fault = await part.faultOf(answer.bytes);
    return fault === undefined ? { bytes: answer.bytes } : { why: fault, isMissing: false };
  }

  /** Reads are spread over the nodes that answer; the others come last. */
  #inTurn(): readonly string[] {
    const first = this.#turn++ % this.names.length;
    const turned = [...this.names.slice(first), ...this.names.slice(0, first)];
    const nowMs = this.#clock.nowMs();
    const isAvoided = (node: string) => nowMs - (this.#failedAtMs.get(node) ?? Number.NEGATIVE_INFINITY) < AVOIDED_MS;
    return [...turned.filter((node) => !isAvoided(node)), ...turned.filter(isAvoided)];
  }

  async #enter(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

const MISSING = "it is not there";
