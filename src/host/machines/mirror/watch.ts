import { EDGE_FIELD, type EdgeReport, pointerTag } from "../../../formats/machines.ts";
import type { AskNode } from "./ask.ts";
import type { Faults } from "./lines.ts";
import { type StateNodes, whyOf } from "./nodes.ts";
import { backOffMs, type MirrorClock } from "./platform.ts";
import { orderOf, POINTER_BYTES_MAX, type Publication, readPublication } from "./references.ts";
import { type MirroredTables, refusalOf } from "./tables.ts";

/** A state node answers after it at the latest, and its own deadline for the object. */
const WAIT_SECONDS = 20;
const ANSWER_MS = (WAIT_SECONDS + 6) * 1000;

/** A node that does not wait is asked no more often. */
const SPACING_MS = 1_000;

export interface WatchOptions {
  readonly ask: AskNode;
  readonly nodes: StateNodes;
  readonly tables: MirroredTables;
  readonly clock: MirrorClock;
  readonly faults: Faults;
  readonly stopped: AbortSignal;
  readonly edgeReport: () => EdgeReport;
  /** A node says that the folder is current. */
  readonly confirmed: (node: string) => void;
  /** Resolves once the edge serves what the folder has: before that it is not reported. */
  readonly served: () => Promise<void>;
}

/**
 * Long polls of one node for the pointer, until the mirror stops. All nodes are polled at once: a node that is silent delays
 * nothing, and none has to be found out.
 */
export async function watchNode(node: string, options: WatchOptions): Promise<void> {
  const { clock, stopped, nodes, faults, served } = options;
  /** The node's tables were compared with those of the folder, and not their numbers alone. */
  let isCompared = false;
  for (let failures = 0; !stopped.aborted; ) {
    await served();
    const beganAtMs = clock.nowMs();
    let pauseMs = 0;
    try {
      const isChanged = await askOnce(node, isCompared, options);
      nodes.answered(node);
      faults.ended(node);
      failures = 0;
      if (!isChanged && isCompared) pauseMs = Math.max(0, SPACING_MS - (clock.nowMs() - beganAtMs));
      isCompared = true;
    } catch (error) {
      if (stopped.aborted) return;
      // It may come back with another state, even under the same numbers.
      isCompared = false;
      if (error instanceof TableFailure) nodes.answered(node);
      else {
        nodes.failed(node);
        faults.failed(node, whyOf(error));
      }
      pauseMs = backOffMs(++failures, clock);
    }
    if (pauseMs > 0) await clock.pause(pauseMs, stopped);
  }
}

/** The node answers, but its table could not be mirrored. That is told where it failed. */
class TableFailure extends Error {}

/** Whether the folder changed, or has changed since the question. */
async function askOnce(node: string, isCompared: boolean, options: WatchOptions): Promise<boolean> {
  const { ask, tables, stopped, edgeReport, confirmed } = options;
  const { held } = tables;
  // The folder may lack a part of what its pointer says: then it is asked for again.
  const tag = held !== undefined && tables.isWhole && isCompared ? pointerTag(held) : undefined;
  const answer = await ask(node, `/pointer?wait=${WAIT_SECONDS}`, {
    bytesMax: POINTER_BYTES_MAX,
    silenceMs: ANSWER_MS,
    deadlineMs: ANSWER_MS,
    fields: { [EDGE_FIELD]: JSON.stringify({ ...edgeReport(), node }), ...(tag && { "if-none-match": tag }) },
    signal: stopped,
    isOnOneConnection: true,
  });
  if (answer.status === 304 && tag !== undefined) {
    if (tables.held === held) confirmed(node);
    return tables.held !== held;
  }
  if (answer.status === 404) throw new Error(held === undefined ? "nothing is published" : NOTHING_PUBLISHED);
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  const publication = readPublication(answer.bytes);
  if (!publication.ok) throw new Error(`its pointer cannot be read: ${publication.error}`);
  return takeFrom(node, publication.value, held, options);
}

/** `asked`: what the folder had at the question. */
async function takeFrom(
  node: string,
  publication: Publication,
  asked: Publication | undefined,
  { tables, confirmed }: WatchOptions,
): Promise<boolean> {
  const { held } = tables;
  const order = orderOf(publication, held);
  if (held !== undefined && (order === "older" || order === "conflict")) {
    // Another node may have answered with a newer one meanwhile.
    if (held !== asked) return true;
    throw new Error(refusalOf(order, publication, held));
  }
  if (order === "newer" || !tables.isWhole) {
    await tables.take(publication, node).catch((error: unknown) => {
      throw new TableFailure(whyOf(error));
    });
  }
  confirmed(node);
  return tables.held !== asked;
}

const NOTHING_PUBLISHED =
  "nothing is published there, and this edge keeps its table. If the state was made anew, stop the edge, empty its --state folder, and start it again";
