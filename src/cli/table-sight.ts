import type { Status } from "./gateway-answers.ts";
import { EXIT, type ExitCode } from "./world.ts";

/** How far a change has come: the truth first, then KV, then isolates. What is seen of it at one of these places. */

/** By which table requests go: a revision, and for some IDs the canary's beside it. */
export interface TableVersion {
  readonly revision: number;
  /** `undefined`: none runs. */
  readonly canary: number | undefined;
}

/** Where the last change has not come yet, in the order in which it comes there. */
export type Lag = "pending" | "kv" | "isolate" | "probes";

export const EXIT_OF_LAG: Readonly<Record<Lag, ExitCode>> = {
  pending: EXIT.pending,
  kv: EXIT.kvBehind,
  isolate: EXIT.isolateBehind,
  probes: EXIT.probesBehind,
};

export const publishedVersion = ({ truth: published, canary }: Status): TableVersion =>
  versionOf({ revision: published.revision, canary });

/** The same of KV and of an isolate, as the status shows them. */
export const versionOf = ({ revision, canary }: Pick<Status["isolate"], "revision" | "canary">): TableVersion => ({
  revision,
  canary: canary?.revision,
});

export const isSame = (a: TableVersion, b: TableVersion): boolean => a.revision === b.revision && a.canary === b.canary;

/** `revision 41, canary 42`. */
export const formatVersion = ({ revision, canary }: TableVersion): string =>
  canary === undefined ? `revision ${revision}` : `revision ${revision}, canary ${canary}`;

/** As something that is to come: no canary is a part of it too. */
export const formatPublishedVersion = ({ revision, canary }: TableVersion): string =>
  `revision ${revision} ${canary === undefined ? "without a canary" : `with canary ${canary}`}`;

/** Everything that lags; `seen` is what probes saw. Nothing was ever published where the truth is the table of the build. */
export const lagsOf = (status: Status, seen: readonly TableVersion[]): readonly Lag[] => {
  const published = publishedVersion(status);
  const { kv, isolate, pending } = status;
  const isInKv = kv ? isSame(versionOf(kv), published) : published.revision === 0;
  const lags: readonly (readonly [Lag, boolean])[] = [
    ["pending", pending],
    ["kv", !pending && !isInKv],
    ["isolate", !isSame(versionOf(isolate), published)],
    ["probes", !seen.every((version) => isSame(version, published))],
  ];
  return lags.flatMap(([lag, isBehind]) => (isBehind ? [lag] : []));
};
