import { isBehind, type Machines } from "../../formats/machines.ts";
import { durationText } from "../../formats/region-state.ts";
import { type HoldMs, type Settled, settle, type WatchedStates } from "./settled.ts";
import type { EventDraft } from "./watch-regions.ts";

/** An edge asks every 20 s. */
const GONE_MS = 90_000;

/** An edge that is gone for this long was taken down. */
const FORGOTTEN_MS = 86_400_000;

const edgeHold: HoldMs = (_, to) => (to === "behind" ? 60_000 : 0);
/** A restart takes some seconds. */
const nodeHold: HoldMs = () => 20_000;

const edgeKey = (name: string): string => `edge ${name}`;
const nodeKey = (address: string): string => `node ${address}`;

/** The machines of a cluster, as its control plane hears of them: edges that are behind or gone, state nodes that are silent. */
export class MachineWatch {
  readonly #states: WatchedStates;
  /** When each edge was last heard of. One that is known from before counts as heard now, unless it was gone. */
  readonly #heard = new Map<string, number>();

  constructor(states: WatchedStates, nowMs: number) {
    this.#states = states;
    for (const key of states.keys(edgeKey(""))) {
      const known = states.get(key);
      const goneMs = known?.state === "gone" ? (known.sinceMs ?? nowMs) : undefined;
      this.#heard.set(key.slice(edgeKey("").length), goneMs === undefined ? nowMs : goneMs - GONE_MS);
    }
  }

  watch(machines: Machines, nowMs: number): readonly EventDraft[] {
    for (const { name, heardAtMs } of machines.edges) {
      // By another machine's clock.
      this.#heard.set(name, Math.max(this.#heard.get(name) ?? 0, Math.min(heardAtMs, nowMs)));
    }
    const edges = [...this.#heard].flatMap(([name, heardAtMs]) => this.#watchEdge(name, heardAtMs, machines, nowMs));
    return [...edges, ...this.#watchNodes(machines, nowMs)];
  }

  #watchEdge(name: string, heardAtMs: number, { edges, published }: Machines, nowMs: number): readonly EventDraft[] {
    const key = edgeKey(name);
    const before = this.#states.get(key) ?? { state: "current" };
    const silentMs = nowMs - heardAtMs;
    if (silentMs >= FORGOTTEN_MS) {
      this.#heard.delete(name);
      this.#states.drop(key);
      const words = `Edge ${name} was not heard of for ${durationText(silentMs)}, and is forgotten.`;
      return [draft("edge.forgotten", words, { edge: name }, nowMs, true)];
    }
    const own = edges.find((edge) => edge.name === name);
    const state = silentMs >= GONE_MS ? "gone" : own !== undefined && isBehind(own, published) ? "behind" : "current";
    const after = settle(before, state, nowMs, edgeHold);
    this.#states.set(key, after);
    if (after.state === before.state) return [];
    const revision = own?.revision;
    const evidence = {
      edge: name,
      ...(revision === undefined ? {} : { hasRevision: revision }),
      ...(published === undefined ? {} : { published: published.revision }),
      silentSeconds: Math.round(silentMs / 1000),
    };
    const { isOver, words } = edgeWords(name, before, after, { revision, published, silentMs });
    return [draft(`edge.${after.state}`, words, evidence, after.sinceMs ?? nowMs, isOver)];
  }

  #watchNodes({ edges, nodes }: Machines, nowMs: number): readonly EventDraft[] {
    const heard = edges.filter(({ heardAtMs }) => nowMs - heardAtMs < GONE_MS);
    const known = this.#states.keys(nodeKey("")).map((key) => key.slice(nodeKey("").length));
    const addresses = new Set([
      ...nodes.map(({ address }) => address),
      ...heard.flatMap(({ silent = [] }) => silent),
      ...known,
    ]);
    return [...addresses].flatMap((address) => {
      const key = nodeKey(address);
      const silentFor = heard.filter(({ silent = [] }) => silent.includes(address)).map(({ name }) => name);
      const before = this.#states.get(key) ?? { state: "answering" };
      // Edges alone can say.
      const state = heard.length === 0 ? before.state : silentFor.length > 0 ? "silent" : "answering";
      const after = settle(before, state, nowMs, nodeHold);
      if (after.state === "answering" && after.next === undefined) this.#states.drop(key);
      else this.#states.set(key, after);
      if (after.state === before.state) return [];
      const isOver = after.state === "answering";
      const words = isOver
        ? `State node ${address} answers all edges again${lastedText(before, after)}.`
        : `State node ${address} does not answer ${silentFor.length} of ${heard.length} edges: ${silentFor.slice(0, 5).join(", ")}.`;
      const evidence = { node: address, silentForEdges: silentFor.length, edges: heard.length };
      return [draft(`node.${after.state}`, words, evidence, after.sinceMs ?? nowMs, isOver)];
    });
  }
}

interface Edge {
  readonly revision: number | undefined;
  readonly published: Machines["published"];
  readonly silentMs: number;
}

function edgeWords(name: string, before: Settled, after: Settled, { revision, published, silentMs }: Edge) {
  if (after.state === "gone") {
    return { isOver: false, words: `Edge ${name} is gone: it has not asked for ${durationText(silentMs)}.` };
  }
  if (after.state === "behind") {
    const words = `Edge ${name} is behind: it has revision ${revision ?? 0}, and ${published?.revision ?? 0} is published.`;
    return { isOver: false, words };
  }
  const lasted = lastedText(before, after);
  const words =
    before.state === "gone" ? `Edge ${name} is back${lasted}.` : `Edge ${name} has what is published again${lasted}.`;
  return { isOver: true, words };
}

const lastedText = (before: Settled, after: Settled): string =>
  before.sinceMs === undefined || after.sinceMs === undefined
    ? ""
    : `, after ${durationText(after.sinceMs - before.sinceMs)}`;

const draft = (
  type: string,
  words: string,
  evidence: EventDraft["evidence"],
  atMs: number,
  isOver: boolean,
): EventDraft => ({ atMs, kind: "machine", type, words, evidence, ...(isOver && { isOver }) });
