import type { ResponseDifference, Shadows } from "../ports.ts";
import { identityWords } from "../routing/identity.ts";
import type { Region } from "../routing/table.ts";
import type { AttemptDeps } from "./attempt.ts";
import { differingFields, type ResponseShape, shapeOf } from "./compare-answers.ts";
import type { OriginResponse } from "./deliver.ts";
import { edgeFailure } from "./failure.ts";
import { chooseOrigin } from "./origin-choice.ts";
import { type OriginRequest, originRequest, type ProxyRequest, signableOf } from "./origin-request.ts";

export interface MirrorDeps extends AttemptDeps {
  readonly shadows: Shadows;
}

/** One that is slower has told enough, and nobody waits for it. */
const SHADOW_DEADLINE_MS = 5_000;

/**
 * Sends a sample of the reads to the shadow of their route too, once the client's answer is on its way. To be called with
 * the origin's answer as it came: what is compared of it is taken at once. It never throws and never waits.
 */
export function mirrorToShadow(
  proxyRequest: ProxyRequest,
  { response, region }: OriginResponse,
  deps: MirrorDeps,
  deadlineMs = SHADOW_DEADLINE_MS,
): void {
  const shadow = sampledShadow(proxyRequest, region);
  if (shadow === undefined || response.status === 101 || proxyRequest.asksUpgrade) return;
  if (!deps.shadows.admit(shadow.name)) return;
  const answered = shapeOf(response);
  const work = async (): Promise<void> => {
    await clientsTurn();
    const answer = await sendToShadow(proxyRequest, shadow, deps, deadlineMs).catch(() => undefined);
    if (answer === undefined) deps.shadows.report(shadow.name, "failed");
    else if (answer.status !== answered.status) {
      deps.shadows.report(shadow.name, "status-differs", differenceOf(proxyRequest, region, answered, answer));
    } else if (differingFields(answered, answer).length > 0) {
      deps.shadows.report(shadow.name, "headers-differ", differenceOf(proxyRequest, region, answered, answer));
    } else deps.shadows.report(shadow.name, "match");
  };
  deps.waitUntil(work());
}

/** The shadow that this request is to be sent to; most requests have none. */
function sampledShadow({ method, body, decision, randomWord }: ProxyRequest, answeredBy: Region): Region | undefined {
  const { shadow } = decision.target;
  if (shadow === undefined || shadow.region === answeredBy) return undefined;
  if ((method !== "GET" && method !== "HEAD") || body.kind !== "none") return undefined;
  return randomWord() < shadow.share * 2 ** 32 ? shadow.region : undefined;
}

/** Lets the handler hand over the client's answer before anything is sent. */
const clientsTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Rejects where there is no answer in time, or none of the origin's own. */
async function sendToShadow(
  proxyRequest: ProxyRequest,
  region: Region,
  { fetch, sign, isOnEdge }: AttemptDeps,
  deadlineMs: number,
): Promise<ResponseShape> {
  const { layout, words } = proxyRequest.decision;
  const at = { region, origin: chooseOrigin(region, identityWords(layout, words)) };
  const signature = sign === undefined ? undefined : await sign(signableOf(proxyRequest, at));
  const outgoing = originRequest(proxyRequest, at, signature);
  if (outgoing === undefined) throw new Error("the request runs in a circle");
  const response = await within(deadlineMs, (signal) =>
    fetch(outgoing.url, shadowed(outgoing, signal), at.origin.binding),
  );
  void response.body?.cancel().catch(() => undefined);
  if (isOnEdge && edgeFailure(response.status) !== undefined) throw new Error("the shadow cannot be reached");
  return shapeOf(response);
}

/** A field of its own tells an origin that nobody reads the answer. */
function shadowed({ init }: OriginRequest, signal: AbortSignal): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("waybill-shadow", "1");
  return { ...init, headers, signal };
}

/** Rejects when the answer has not begun in time, and gives up the connection. */
async function within(deadlineMs: number, ask: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const abort = new AbortController();
  const late = new Promise<never>((_, reject) => {
    abort.signal.addEventListener("abort", () => reject(new Error("the shadow is late")));
  });
  const timer = setTimeout(() => abort.abort(), deadlineMs);
  try {
    return await Promise.race([ask(abort.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function differenceOf(
  { method, decision }: ProxyRequest,
  region: Region,
  answered: ResponseShape,
  shadow: ResponseShape,
): ResponseDifference {
  const { entity, id } = decision;
  return {
    entity: entity.name,
    id: entity.public === undefined ? id : undefined,
    method,
    region: region.name,
    status: answered.status,
    shadowStatus: shadow.status,
    fields: differingFields(answered, shadow),
  };
}
