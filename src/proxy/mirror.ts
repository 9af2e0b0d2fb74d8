import type { AnswerDifference, Shadows } from "../ports.ts";
import { identityWords } from "../routing/identity.ts";
import type { Region } from "../routing/table.ts";
import type { AttemptWorld } from "./attempt.ts";
import { type AnswerShape, differingFields, shapeOf } from "./compare-answers.ts";
import type { OriginAnswer } from "./deliver.ts";
import { edgeFailure } from "./failure.ts";
import { chooseOrigin } from "./origin-choice.ts";
import { type OriginRequest, originRequest, type Passage, signableOf } from "./origin-request.ts";

export interface MirrorWorld extends AttemptWorld {
  readonly shadows: Shadows;
}

/** One that is slower has told enough, and nobody waits for it. */
const SHADOW_DEADLINE_MS = 5_000;

/**
 * Sends a sample of the reads to the shadow of their route too, once the client's answer is on its way. To be called with
 * the origin's answer as it came: what is compared of it is taken at once. It never throws and never waits.
 */
export function mirror(
  passage: Passage,
  { response, region }: OriginAnswer,
  world: MirrorWorld,
  deadlineMs = SHADOW_DEADLINE_MS,
): void {
  const shadow = sampledShadow(passage, region);
  if (shadow === undefined || response.status === 101 || passage.asksUpgrade) return;
  if (!world.shadows.admit(shadow.name)) return;
  const answered = shapeOf(response);
  const work = async (): Promise<void> => {
    await clientsTurn();
    const answer = await askShadow(passage, shadow, world, deadlineMs).catch(() => undefined);
    if (answer === undefined) world.shadows.report(shadow.name, "failed");
    else if (answer.status !== answered.status) {
      world.shadows.report(shadow.name, "status-differs", differenceOf(passage, region, answered, answer));
    } else if (differingFields(answered, answer).length > 0) {
      world.shadows.report(shadow.name, "headers-differ", differenceOf(passage, region, answered, answer));
    } else world.shadows.report(shadow.name, "match");
  };
  world.waitUntil(work());
}

/** The shadow that this request is to be sent to; most requests have none. */
function sampledShadow({ method, body, decision, randomWord }: Passage, answeredBy: Region): Region | undefined {
  const { shadow } = decision.target;
  if (shadow === undefined || shadow.region === answeredBy) return undefined;
  if ((method !== "GET" && method !== "HEAD") || body.kind !== "none") return undefined;
  return randomWord() < shadow.share * 2 ** 32 ? shadow.region : undefined;
}

/** Lets the handler hand over the client's answer before anything is sent. */
const clientsTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Rejects where there is no answer in time, or none of the origin's own. */
async function askShadow(
  passage: Passage,
  region: Region,
  { fetch, sign, isOnEdge }: AttemptWorld,
  deadlineMs: number,
): Promise<AnswerShape> {
  const { layout, words } = passage.decision;
  const at = { region, origin: chooseOrigin(region, identityWords(layout, words)) };
  const signature = sign === undefined ? undefined : await sign(signableOf(passage, at));
  const outgoing = originRequest(passage, at, signature);
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
  { method, decision }: Passage,
  region: Region,
  answered: AnswerShape,
  shadow: AnswerShape,
): AnswerDifference {
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
