import type { Result } from "../ids/result.ts";
import type { PackStore } from "../table-ports.ts";
import { callObject, stubOf } from "./table-history.ts";
import type { ControlPlaneRpc } from "./truth-object.ts";

/** KV takes two parts, one after the other, or shows all of a pack. */
const DEADLINE_MS = 10_000;

/** The Durable Object as the place where packs are put. What was put twice is there once, so that all may be asked again. */
export function durablePackStore(namespace: DurableObjectNamespace<ControlPlaneRpc>): PackStore {
  const ask = <Value, Failure>(of: (stub: PackStore) => Promise<Result<Value, Failure>>) =>
    callObject(() => of(stubOf<PackStore>(namespace)), "again", DEADLINE_MS);
  return {
    packStatus: (sha256) => ask((stub) => stub.packStatus(sha256)),
    putHeader: (request, bytes) => ask((stub) => stub.putHeader(request, bytes)),
    putPage: (request, page, bytes) => ask((stub) => stub.putPage(request, page, bytes)),
  };
}
