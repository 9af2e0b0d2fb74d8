import { setLast, withTimeout } from "../edge/platform.ts";
import { formatPointer, type Pointer } from "../formats/kv.ts";
import { type EdgeReport, type HeardEdge, type HeardNode, type Machines, pointerTag } from "../formats/machines.ts";

/** A mirror asks for the pointer: for the first one, or for another one than it has. */
export interface PointerCall {
  /** The tag of the last answer. */
  readonly tag?: string | undefined;
  readonly waitMs: number;
  readonly edge?: EdgeReport | undefined;
  /** The version of the state node that hands the call on. */
  readonly nodeVersion?: string | undefined;
}

/** `text`: as in KV. `busy`: too many are waiting. */
export type PointerAnswer =
  | { readonly state: "published"; readonly text: string; readonly tag: string }
  | { readonly state: "same" | "none" | "busy" };

/** An edge has one mirror. */
const WAITING_MAX = 2_000;

/** The pointer that KV is known to hold, in memory: mirrors wait for its next change and read nothing meanwhile. */
export class AnnouncedPointer {
  readonly #waiting = new Set<() => void>();
  #pointer: Pointer | undefined;
  #isKnown = false;

  /** Whether KV was read, or written. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  get pointer(): Pointer | undefined {
    return this.#pointer;
  }

  /** Everything that the pointer names must be in KV. */
  set(pointer: Pointer | undefined): void {
    this.#pointer = pointer;
    this.#isKnown = true;
    for (const wake of this.#waiting) wake();
  }

  /** At once if the asker has another one. */
  async next(tag: string | undefined, waitMs: number): Promise<PointerAnswer> {
    const answer = this.#answer(tag);
    if (answer.state === "published" || waitMs <= 0) return answer;
    if (this.#waiting.size >= WAITING_MAX) return { state: "busy" };
    let wake = (): void => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.#waiting.add(wake);
    await withTimeout(woken, waitMs, () => undefined);
    this.#waiting.delete(wake);
    return this.#answer(tag);
  }

  #answer(tag: string | undefined): PointerAnswer {
    if (this.#pointer === undefined) return { state: "none" };
    const own = pointerTag(this.#pointer);
    return own === tag ? { state: "same" } : { state: "published", text: formatPointer(this.#pointer), tag: own };
  }
}

const MACHINES_MAX = 1_000;
const MACHINE_MS = 600_000;

/** Two edges of one name ask by turns, each at least three times in it. */
const TWICE_MS = 60_000;
const RUNS_MAX = 8;

/** The starts by which an edge was heard of, the latest last, and when one came back. */
interface Runs {
  readonly runs: readonly string[];
  readonly twiceAtMs: number;
}

/** A start never comes back behind a later one, unless both run. */
function heardRun({ runs, twiceAtMs }: Runs, run: string, atMs: number): Runs {
  if (runs.at(-1) === run) return { runs, twiceAtMs };
  const others = runs.filter((each) => each !== run);
  return {
    runs: [...others, run].slice(-RUNS_MAX),
    twiceAtMs: others.length < runs.length ? atMs : twiceAtMs,
  };
}

const NO_RUNS: Runs = { runs: [], twiceAtMs: Number.NEGATIVE_INFINITY };

/** The machines that have asked lately. In memory alone: each asks again within half a minute. */
export class HeardMachines {
  readonly #edges = new Map<string, HeardEdge>();
  readonly #runs = new Map<string, Runs>();
  readonly #nodes = new Map<string, HeardNode>();

  add({ edge, nodeVersion }: Pick<PointerCall, "edge" | "nodeVersion">, heardAtMs: number): void {
    if (edge === undefined) return;
    const { node, run, ...report } = edge;
    setLast(this.#edges, edge.name, { ...report, heardAtMs }, MACHINES_MAX);
    if (run !== undefined) {
      const known = this.#runs.get(edge.name) ?? NO_RUNS;
      setLast(this.#runs, edge.name, heardRun(known, run, heardAtMs), MACHINES_MAX);
    }
    if (node !== undefined && nodeVersion !== undefined)
      setLast(this.#nodes, node, { address: node, version: nodeVersion, heardAtMs }, MACHINES_MAX);
  }

  read(nowMs: number): Pick<Machines, "edges" | "nodes"> {
    return {
      edges: lately(this.#edges, nowMs)
        .map((edge) => (this.#isTwice(edge.name, nowMs) ? { ...edge, isTwice: true as const } : edge))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      nodes: lately(this.#nodes, nowMs).toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    };
  }

  #isTwice(name: string, nowMs: number): boolean {
    return nowMs - (this.#runs.get(name) ?? NO_RUNS).twiceAtMs < TWICE_MS;
  }
}

function lately<Heard extends { readonly heardAtMs: number }>(
  heard: Map<string, Heard>,
  nowMs: number,
): readonly Heard[] {
  for (const [name, { heardAtMs }] of heard) if (nowMs - heardAtMs >= MACHINE_MS) heard.delete(name);
  return [...heard.values()];
}
