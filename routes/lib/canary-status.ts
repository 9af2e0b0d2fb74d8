import type { RunningCanary } from "../../src/ports/admin.ts";
import type { ServedTable } from "../../src/ports/gateway.ts";

/** With its audience: one of `share`, `countries` and `entities`. `null` for none. */
export const shownCanary = (canary: RunningCanary | undefined): object | null =>
  canary === undefined ? null : { revision: canary.revision, digest: canary.digest, ...canary.audience };

/** `null` if there is none, or if the isolate has not loaded its table yet. */
export const canaryInIsolate = ({ canary }: ServedTable): object | null =>
  shownCanary(canary && { ...canary, revision: canary.table.revision });
