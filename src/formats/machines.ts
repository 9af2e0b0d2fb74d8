import { NAME_LENGTH_MAX } from "../routing/limits.ts";
import { parseJson } from "../routing/schema/json-scanner.ts";
import { isRecord, type Json } from "../routing/schema/records.ts";
import type { Pointer } from "./kv.ts";

/** Edges and state nodes talk over HTTP by these, on the state nodes' own socket. */

/** The field with which an edge reports itself when it asks for the pointer: JSON. */
export const EDGE_FIELD = "waybill-edge";

/** The longest that a request for the pointer may wait for another one. */
export const POINTER_WAIT_SECONDS_MAX = 30;

/** An edge as its mirror has it. */
export interface EdgeReport {
  readonly name: string;
  /** The mirror's; 0 where it has none. */
  readonly revision: number;
  readonly change: number;
  /** The version of Waybill. */
  readonly version: string;
  /** Another one for each start; earlier versions have none. */
  readonly run?: string | undefined;
  readonly processes: number;
  /** Since the mirror was last found to be what is published. */
  readonly ageMs: number;
  /** The address of the state node that it asks. */
  readonly node?: string | undefined;
  /** Addresses of the state nodes that do not answer it. */
  readonly silent?: readonly string[] | undefined;
}

export interface HeardEdge extends EdgeReport {
  /** Unix ms. */
  readonly heardAtMs: number;
  /** Two edges have this name: each hides the other. */
  readonly isTwice?: true | undefined;
}

/** A state node by the address at which edges ask it. */
export interface HeardNode {
  readonly address: string;
  /** The version of Waybill. */
  readonly version: string;
  readonly heardAtMs: number;
}

type MirroredChange = Pick<Pointer, "revision" | "change">;

/** The publication that state nodes have, as far as they know. */
export interface Published {
  /** Mirrors should have it; absent where nothing is published, or that is not known. */
  readonly published?: MirroredChange | undefined;
  /** Nothing is published: KV was read. Earlier versions do not say it. */
  readonly isUnpublished?: true | undefined;
}

/** The machines that were heard of lately, at the control plane. */
export interface Machines extends Published {
  readonly edges: readonly HeardEdge[];
  readonly nodes: readonly HeardNode[];
  /** The object that heard of them: nodes that ask another one have another state. Earlier versions have none. */
  readonly object?: string | undefined;
}

/** The key of an edge's own KV under which its mirror says how current it is. */
export const MIRROR_STATUS_KEY = "mirror.status";

/** State nodes that an edge knows: each has a binding of its own. */
export const STATE_NODES_MAX = 9;
export const stateBinding = (at: number) => `STATE_${at + 1}`;

/** With a port. */
const ADDRESS = /^[\w.:[\]-]{3,260}$/;

const REPORT_LENGTH_MAX = 4_096;
export const MACHINE_NAME = /^[A-Za-z0-9.-]{1,64}$/;
const VERSION = /^[\w.+-]{1,64}$/;
const RUN = /^[\w-]{1,64}$/;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** `undefined` for a text that is no report. Members of a later version are left out. */
export function readEdgeReport(text: string): EdgeReport | undefined {
  const json = text.length > REPORT_LENGTH_MAX ? undefined : parseJson(text);
  if (!isRecord(json)) return undefined;
  const { name, revision, change, version, run, processes, ageMs } = json;
  if (typeof name !== "string" || !MACHINE_NAME.test(name)) return undefined;
  if (typeof version !== "string" || !VERSION.test(version)) return undefined;
  if (run !== undefined && (typeof run !== "string" || !RUN.test(run))) return undefined;
  if (!isCount(revision) || !isCount(change) || !isCount(processes) || !isCount(ageMs)) return undefined;
  const nodes = nodesIn(json);
  return nodes && { name, revision, change, version, ...(run && { run }), processes, ageMs, ...nodes };
}

/** The state nodes of a report; `undefined` if one of them is no address. */
function nodesIn({ node, silent = [] }: Json): Pick<EdgeReport, "node" | "silent"> | undefined {
  if (node !== undefined && !isAddress(node)) return undefined;
  if (!Array.isArray(silent) || silent.length > STATE_NODES_MAX || !silent.every(isAddress)) return undefined;
  return { ...(node === undefined ? {} : { node }), ...(silent.length === 0 ? {} : { silent }) };
}

const isAddress = (value: unknown): value is string => typeof value === "string" && ADDRESS.test(value);

/** Differs for every change of the control plane, canaries included. */
export const pointerTag = ({ revision, change }: Pick<Pointer, "revision" | "change">): string =>
  `"${revision}.${change}"`;

const DIRECTORY_COPY = new RegExp(
  `^(?:directory\\.[\\x21-\\x7e]{1,${NAME_LENGTH_MAX}}\\.current|directory-copy\\.[0-9a-f]{64}(?:\\.\\d{1,6})?)$`,
);
const TABLE_OR_PACK = /^(?:table\.(?:current|[0-9a-f]{64}(?:\.[0-9a-z]{1,64})?)|pack\.[0-9a-f]{64}(?:\.\d{1,6})?)$/;

/** Keys of KV that a mirror may read: tables, their stored forms and packs, and the published copies of directories. */
export const isMirrored = (key: string): boolean => TABLE_OR_PACK.test(key) || isOfCopies(key);

/** Keys that the pages of an edge write: its own KV is the mirror's. All others have the control plane as their one writer. */
export const isOfCopies = (key: string): boolean => DIRECTORY_COPY.test(key);

/** As JSON answers show them. */
export function shownMachines({ edges, nodes, published, isUnpublished }: Machines) {
  const shown = <Heard extends { readonly heardAtMs: number }>({ heardAtMs, ...rest }: Heard) => ({
    ...rest,
    heardAt: new Date(heardAtMs).toISOString(),
  });
  return { published, isUnpublished, nodes: nodes.map(shown), edges: edges.map(shown) };
}

/** Whether a mirror has a change that state nodes do not have: their state is older than it, or another. */
export const isAhead = (own: MirroredChange, { published, isUnpublished }: Published): boolean =>
  published === undefined ? isUnpublished === true && own.revision > 0 : isBehind(published, own);

/** Whether a mirror lacks the last change. */
export const isBehind = (own: MirroredChange, published: MirroredChange | undefined): boolean =>
  published !== undefined &&
  (own.revision < published.revision || (own.revision === published.revision && own.change < published.change));
