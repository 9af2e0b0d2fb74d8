import { deciderOf } from "../../../gateway/decide.ts";
import type { RequestContext } from "../../../gateway/request.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { ServedTable } from "../../../ports/gateway.ts";
import type { GatewayError } from "../../../problems/index.ts";
import type { CompiledTable } from "../../../routing/table.ts";
import type { BeginCall, KeptAnswer } from "../../idempotency/port.ts";
import { refusalOf } from "../../idempotency/serve/idempotency-key.ts";
import { keepAnswer, replayed, withKeyFields } from "../../idempotency/serve/kept-answer.ts";
import type { Create } from "../table/types.ts";
import { labelled, type NewEntity } from "./answer.ts";
import { decideText } from "./choose-ids.ts";
import type { Creation } from "./collection.ts";
import { verifyStreamed } from "./content.ts";
import type { DigestCheck } from "./content-digest.ts";

/** The same once for each key: what is about to be made is written down before the origin is asked. */
export async function createOnce(
  context: RequestContext,
  served: ServedTable,
  { create, table }: Creation,
  {
    check,
    ...keyed
  }: Pick<BeginCall, "scope" | "key" | "fingerprint" | "attempt"> & { readonly check: DigestCheck | undefined },
  newEntities: Result<readonly NewEntity[], GatewayError>,
  sendAll: (newEntities: readonly NewEntity[]) => Promise<Response>,
): Promise<Response> {
  const { gateway } = context;
  const { ttlMs, leaseMs, keep } = create.idempotency;
  const begun = await gateway.idempotency.begin({
    ...keyed,
    proposal: proposalOf(create, newEntities.ok ? newEntities.value : [], table),
    // Without an ID it is a look-up: a retry that comes too late for a new one still gets what its first attempt began.
    ttlMs: newEntities.ok ? ttlMs : 0,
    leaseMs,
  });
  if (!begun.ok) return context.fail(begun.error);
  const { value } = begun;
  context.keyUntilMs = "untilMs" in value ? value.untilMs : undefined;
  if (value.state === "done") {
    const other = check && (await verifyStreamed(context, check));
    return other === undefined ? replayed(context, value) : context.fail(other);
  }
  if (value.state !== "started") return context.fail(refusalOf(value));
  if (!newEntities.ok && !value.isResumed) {
    context.keyUntilMs = undefined;
    return context.fail(newEntities.error);
  }
  const { record, untilMs } = value;
  const { scope, key, attempt } = keyed;
  const finish = (answer?: KeptAnswer) => {
    const isVoid = check?.isFalse === true;
    return gateway.idempotency.finish({ scope, key, attempt, isVoid, ...(answer && !isVoid ? { answer } : {}) });
  };
  try {
    return await answerKeyed();
  } catch (defect) {
    await finish();
    throw defect;
  }

  async function answerKeyed(): Promise<Response> {
    // A retry has the ID and the region of its first attempt, whatever the table says by now.
    const resumed = await resume(context, served, create, record, newEntities.ok ? newEntities.value : []);
    const unwanted = new AbortController();
    if (keep !== undefined) context.unwanted = unwanted.signal;
    const answer = resumed.ok ? labelled(await sendAll(resumed.value), resumed.value) : context.fail(resumed.error);
    if (context.outcome === "digest-mismatch") {
      await finish();
      context.keyUntilMs = undefined;
      return context.fail({ reason: "digest-mismatch" });
    }
    const kept = keepAnswer(context, keep, answer);
    void kept.answer.then(() => context.onClientLeft(() => unwanted.abort()));
    // An origin may answer before it has read everything.
    const isEarly = kept.isResult && check !== undefined && check.end === undefined;
    const ended = Promise.all([kept.answer, isEarly ? check.ended : check?.end]).then(([whole, end = "complete"]) =>
      finish(end === "complete" ? whole : undefined),
    );
    // A short answer is safe before the client has it. No client waits for the end of a stream.
    if (kept.isShort && !isEarly) await ended;
    else context.waitUntil(ended);
    if (kept.isResult && (!kept.isShort || isEarly)) await Promise.race([ended, gateway.pause(KEEP_WAIT_MS)]);
    return withKeyFields(kept.response, untilMs, kept.isResult);
  }
}

/** Most answers of unknown length have come by then, and a retry that follows at once finds them kept. */
const KEEP_WAIT_MS = 100;

const proposalOf = ({ entity }: Create, newEntities: readonly NewEntity[], { revision }: CompiledTable) => ({
  entity: entity.name,
  id: newEntities.map(({ text }) => text).join(","),
  region: newEntities[0]?.decision.target.region.name ?? "",
  revision,
});

/** The entities of an earlier attempt with the same key, in the region that was written down. */
async function resume(
  context: RequestContext,
  served: ServedTable,
  create: Create,
  record: { readonly id: string; readonly region: string },
  newEntities: readonly NewEntity[],
): Promise<Result<readonly NewEntity[], GatewayError>> {
  const texts = record.id.split(",");
  const resumed: NewEntity[] = [];
  for (const [at, text] of texts.entries()) {
    const proposed = newEntities[at];
    const decided = proposed?.text === text ? ok(proposed) : await decideText(context, served, create, text);
    if (!decided.ok) return decided;
    const { decision, byCanary } = decided.value;
    const { regions } = deciderOf(served, byCanary);
    const region = regions.get(record.region);
    if (region === undefined) {
      const known = [...regions.keys()];
      return err({ reason: "unknown-name", what: "region", name: record.region, known });
    }
    // An entity that was moved by itself is there: its former region would make it anew.
    const isMoved = decision.target.rule.kind === "moved" && texts.length === 1;
    const isSame = decision.target.region.name === region.name;
    const target =
      isSame || isMoved ? decision.target : { ...decision.target, region, canary: undefined, shadow: undefined };
    resumed.push({ ...decided.value, decision: { ...decision, target } });
  }
  return ok(resumed);
}
