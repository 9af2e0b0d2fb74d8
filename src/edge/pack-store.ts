import type { Result } from "../ids/result.ts";
import type { PackStore } from "../table-ports.ts";
import { asked, truthOf } from "./table-history.ts";
import type { TruthObject } from "./truth-object.ts";

/** KV takes two parts, one after the other, or shows all of a pack. */
const DEADLINE_MS = 10_000;

/** The Durable Object as the place where packs are put. What was put twice is there once, so that all may be asked again. */
export function durablePackStore(namespace: DurableObjectNamespace<TruthObject>): PackStore {
  const ask = <Value, Failure>(of: (truth: PackStore) => Promise<Result<Value, Failure>>) =>
    asked(() => of(truthOf<PackStore>(namespace)), "again", DEADLINE_MS);
  return {
    sight: (sha256) => ask((truth) => truth.sight(sha256)),
    putHeader: (wish, octets) => ask((truth) => truth.putHeader(wish, octets)),
    putPage: (wish, page, octets) => ask((truth) => truth.putPage(wish, page, octets)),
  };
}
