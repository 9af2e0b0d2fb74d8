import { type IncomingHttpHeaders, request } from "node:http";
import { createServer } from "node:net";
import { getSystemErrorMap } from "node:util";
import { type Address, addressText, isWildcard } from "../addresses.ts";
import { httpsAsk, NoStateNode } from "../mirror/ask.ts";
import { codeOf } from "../mirror/platform.ts";

/** One line of a check. Errors stop a machine, warnings and notes do not. */
export interface Finding {
  readonly state: "ok" | "note" | "warning" | "error";
  readonly text: string;
}

/** An answer of HTTP, or why there is none. `isOther`: the answer is none of HTTP. */
export type Asked =
  | { readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly why: string; readonly isOther?: boolean };

export const DEADLINE_MS = 3_000;
const BYTES_MAX = 2 ** 20;

/** An IPv6 address without its brackets. */
export const bare = (host: string): string => host.replace(/^\[|\]$/g, "");

/** A socket on all addresses is asked on loopback. */
export const hostOf = (host: string): string =>
  isWildcard(host) ? (host === "[::]" ? "::1" : "127.0.0.1") : bare(host);

/** GET without a body, such as `/ready` of a cluster's port. */
export const askPlain = ({ host, port }: Address, path: string, deadlineMs = DEADLINE_MS): Promise<Asked> =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(deadlineMs);
    const sent = request({ host: hostOf(host), port, path, agent: false, signal }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    sent.once("error", (error) =>
      resolve({
        why: signal.aborted ? `no answer within ${deadlineMs / 1000} s` : whyOf(error),
        isOther: codeOf(error)?.startsWith("HPE_") === true,
      }),
    );
    sent.end();
  });

export const whyOf = (error: unknown): string => {
  const { errno, message } = error as NodeJS.ErrnoException;
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
};

/** Why a socket cannot be opened; `undefined`: it can, or the system chooses a port. */
export const listenFault = ({ host, port }: Address): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host: bare(host), port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** Members of `/machines`; a later version may have more. */
export interface MachinesAnswer {
  readonly time?: string;
  readonly node?: { readonly version?: string };
  /** The object of tables that the node asks. */
  readonly object?: string;
  readonly published?: { readonly revision: number; readonly change: number };
  readonly isUnpublished?: true;
  readonly nodes?: readonly SeenNode[];
  readonly edges?: readonly SeenEdge[];
}

export interface SeenNode {
  readonly address: string;
  readonly version?: string;
  readonly heardAt: string;
}

export interface SeenEdge {
  readonly name: string;
  readonly revision: number;
  readonly change: number;
  readonly version: string;
  readonly processes: number;
  readonly ageMs: number;
  /** State nodes that do not answer it. */
  readonly silent?: readonly string[];
  readonly isTwice?: true;
  readonly heardAt: string;
}

/** `status` where the node answers, and its control plane does not. `isOther`: another program answers. */
export type NodeSeen =
  | { readonly machines: MachinesAnswer }
  | { readonly status: number }
  | { readonly why: string; readonly isRefused?: boolean; readonly isOther?: boolean };

export type Seen = readonly (readonly [address: string, seen: NodeSeen])[];

/** The object may have gone to another node between two answers: nodes are asked again before they count as apart. */
export async function apartFault(seen: Seen, see: (node: string) => Promise<NodeSeen>): Promise<string | undefined> {
  if (apart(seen) === undefined) return undefined;
  return apart(await Promise.all(seen.map(async ([node]) => [node, await see(node)] as const)));
}

function apart(seen: Seen): string | undefined {
  const nodes = new Map<string, readonly string[]>();
  for (const [node, answer] of seen) {
    const object = "machines" in answer ? answer.machines.object : undefined;
    if (object !== undefined) nodes.set(object, [...(nodes.get(object) ?? []), node]);
  }
  if (nodes.size < 2) return undefined;
  const groups = [...nodes.values()].map((each) => each.join(" and "));
  return `state nodes have different states, so that numbers and keys are given twice: ${groups.join(" | ")}. Stop those of the wrong state, and correct their bucket and bucketOptions`;
}

/** Asks state nodes as edges do, with this machine's certificate. */
export function stateNodes(tlsFolder: string): { see(node: string): Promise<NodeSeen>; close(): void } {
  const asker = httpsAsk(tlsFolder);
  return {
    async see(node) {
      const times = { silenceMs: 2 * DEADLINE_MS, deadlineMs: 2 * DEADLINE_MS, bytesMax: BYTES_MAX };
      try {
        const signal = new AbortController().signal;
        const { status, bytes } = await asker.ask(node, "/machines", { ...times, signal });
        if (status >= 500) return { status };
        const machines = status === 200 ? jsonObject(Buffer.from(bytes).toString("utf8")) : undefined;
        if (machines === undefined) throw new NoStateNode(`answers otherwise (${status})`);
        return { machines };
      } catch (error) {
        return { why: whyOf(error), isRefused: isRefusal(error), isOther: error instanceof NoStateNode };
      }
    },
    close: asker.close,
  };
}

function jsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Codes of OpenSSL and Node for a certificate that this machine does not take, and for alerts of one that takes none. */
const REFUSAL =
  /^(?:CERT_|ERR_TLS_CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|INVALID_CA$|INVALID_PURPOSE$|ERR_SSL_\w*(?:CERTIFICATE|UNKNOWN_CA))/;

const isRefusal = (error: unknown): boolean => REFUSAL.test(codeOf(error) ?? "");

/** As an edge reaches it. */
export const reachable = ({ host, port }: Address): string => addressText({ host: hostInUrl(host), port });

const hostInUrl = (host: string): string => (isWildcard(host) ? (host === "[::]" ? "[::1]" : "127.0.0.1") : host);
