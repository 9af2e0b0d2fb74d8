import { createHmac, randomBytes } from "node:crypto";
import { request } from "node:http";
import { isIP } from "node:net";
import { type Address, addressText } from "../addresses.ts";
import type { ClusterOptions } from "../options.ts";
import { bare, DEADLINE_MS, type Finding, hostOf } from "./nodes.ts";

/**
 * Nodes prove their key to each other by this field of a CONNECT: the time in ms, a nonce, and HMAC-SHA-256 of both and the
 * address that the other one advertises. workerd documents it nowhere (1.20261117.1), so a test of real nodes holds it.
 */
const AUTH_FIELD = "cf-cluster-auth";
const CONTEXT = "workerd cluster connect v1";
const SERVICE = "cluster:1";
const NONCE_BYTES = 16;

export function keyProof(key: string, advertised: string, nowMs: number, nonce: string): string {
  const text = [CONTEXT, advertised, nowMs, nonce].join("\n");
  return `${nowMs}.${nonce}.${createHmac("sha256", key).update(text).digest("hex")}`;
}

/** `undefined`: it gives no answer. */
type Verdict = "taken" | "refused" | undefined;

interface Probe {
  readonly key: string;
  readonly nowMs: () => number;
}

/** Whether a node takes the key, which is not sent. `advertised`: as the node names itself. */
async function probed(at: Address, advertised: string, probe: Probe): Promise<Verdict> {
  const first = await connected(at, advertised, probe);
  const { verdict, remote } = first;
  // A peer may be named by a host name, and advertise its address.
  const isNamed = remote !== undefined && isIP(bare(at.host)) === 0;
  return verdict === "refused" && isNamed ? (await connected(at, remote, probe)).verdict : verdict;
}

const connected = ({ host, port }: Address, advertised: string, { key, nowMs }: Probe) =>
  new Promise<{ readonly verdict: Verdict; readonly remote?: string }>((resolve) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    const proof = keyProof(key, advertised, nowMs(), randomBytes(NONCE_BYTES).toString("hex"));
    const headers = { host: SERVICE, [AUTH_FIELD]: proof };
    const sent = request({ method: "CONNECT", path: SERVICE, host: hostOf(host), port, headers, agent: false, signal });
    sent.once("connect", ({ statusCode }, socket) => {
      const { remoteAddress = "", remoteFamily } = socket as typeof socket & Record<string, string | undefined>;
      socket.on("error", () => undefined);
      socket.destroy();
      const verdict = statusCode === 200 ? "taken" : statusCode === 403 ? "refused" : undefined;
      resolve({ verdict, remote: `${remoteFamily === "IPv6" ? `[${remoteAddress}]` : remoteAddress}:${port}` });
    });
    sent.once("error", () => resolve({ verdict: undefined }));
    sent.end();
  });

/** Whether this machine's key is that of its own node, if it runs, and of its peers. */
export async function keyFindings(cluster: ClusterOptions, probe: Probe): Promise<readonly Finding[]> {
  const { address, advertise = address, peers, keyFile } = cluster;
  const [own, ...verdicts] = await Promise.all([
    probed(address, addressText(advertise), probe),
    ...peers.map((peer) => probed(peer, addressText(peer), probe)),
  ]);
  const namesOf = (wanted: Verdict) => peers.filter((_, at) => verdicts[at] === wanted).map(addressText);
  const stale = `the node of this machine runs with another cluster key than ${keyFile}: give the file the key of the others, and restart its \`serve\``;
  return [
    ...(own === "refused" ? [{ state: "error", text: stale } as const] : []),
    ...peerKeyFindings(namesOf("taken"), namesOf("refused"), keyFile),
  ];
}

const APART = "It refuses too where clocks are 30 seconds apart, or where it advertises another address than peers has";

/** Names of the peers that take this machine's key, and of those that refuse it. */
export function peerKeyFindings(
  taken: readonly string[],
  refused: readonly string[],
  keyFile: string,
): readonly Finding[] {
  const restart = "and restart its `serve`";
  const names = refused.join(" and ");
  if (refused.length === 0)
    return taken.length === 0 ? [] : [{ state: "ok", text: `the cluster key is that of ${taken.join(" and ")}` }];
  if (taken.length > 0)
    return refused.map((peer) => ({
      state: "error",
      text: `the peer ${peer} has another cluster key than this machine and ${taken.join(" and ")}: copy the key to that machine again, ${restart}. ${APART}`,
    }));
  const text =
    refused.length > 1
      ? `${keyFile} holds another cluster key than ${names} have: copy theirs to this machine again, ${restart}. ${APART}`
      : `${keyFile} holds another cluster key than ${names} has: copy the right one to both again, and restart both. ${APART}`;
  return [{ state: "error", text }];
}
