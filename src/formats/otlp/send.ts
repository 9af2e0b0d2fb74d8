import { type Collector, firstText, judge, type Outcome, pairsIn } from "./protocol.ts";

/** A collector that is slower is taken for one that is away. */
export const DEADLINE_MS = 5_000;

/** A request as `fetch` takes it. A redirect would take the credentials along. */
export interface SignalRequest {
  readonly method: "POST";
  readonly redirect: "manual";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer whose body is read as far as it is needed. */
export interface SignalAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: AsyncIterable<string> | undefined;
}

export interface SendPorts {
  /** Aborted after `DEADLINE_MS`. */
  readonly signal: { readonly aborted: boolean };
  readonly post: (url: string, request: SignalRequest) => Promise<SignalAnswer>;
  readonly nowMs: () => number;
}

/** Sends one body of a signal. `rejected`: the member of `partialSuccess` that counts what was not taken. Never rejects. */
export async function sendSignal(
  { url, headers }: Collector,
  body: string,
  rejected: string,
  { signal, post, nowMs }: SendPorts,
): Promise<Outcome> {
  const own = { "content-type": "application/json", "user-agent": "waybill-otlp" };
  const all = { ...Object.fromEntries(pairsIn(headers)), ...own };
  try {
    const answer = await post(url, { method: "POST", redirect: "manual", headers: all, body });
    const { status } = answer;
    const retryAfter = answer.headers.get("retry-after");
    return judge({ status, retryAfter, body: await firstText(answer.text) }, rejected, nowMs());
  } catch (error) {
    const why = signal.aborted ? `no answer within ${DEADLINE_MS} ms` : causeOf(error);
    return { outcome: "unavailable", why, afterMs: 0 };
  }
}

/** Node says why in the cause. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
