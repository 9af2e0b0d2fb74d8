import {
  attributesOf,
  type Collector,
  nanosOf,
  type Outcome,
  objectOf,
  resourceOf,
  SCOPE,
} from "../formats/otlp/protocol.ts";
import { DEADLINE_MS, sendSignal } from "../formats/otlp/send.ts";

/** Spans made of the lines of the log, sent to a collector behind the requests. */
export interface TraceExport {
  onLine(line: string): void;
  /** Sends what is left, for a while at most. */
  stop(): Promise<void>;
}

/** Spans of one request, and spans that may wait. */
const BATCH_MAX = 512;
const QUEUE_MAX = 8_192;

/** A batch that is not full waits for others. */
const WAIT_MS = 2_000;

/** After a failure, doubled up to the second. */
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

const SERVER_KIND = 2;
const ERROR_STATUS = 2;

export interface TraceExportOptions {
  readonly collector: Collector;
  /** The deployment's name. */
  readonly instance: string;
  /** A sentence for operators. */
  readonly report: (text: string) => void;
}

/** Spans that find no place in the queue, or that the collector refuses, are dropped and counted. */
export function exportTraces({ collector, instance, report }: TraceExportOptions): TraceExport {
  const resource = resourceOf(instance, collector.resource);
  let queue: object[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let isFailing = false;
  let failures = 0;
  let dropped = 0;
  let reported = 0;

  const wake = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      sending = sendBatch().finally(() => {
        sending = undefined;
      });
    }, ms);
  };

  const note = ({ outcome, why }: Outcome): void => {
    if (why !== undefined && !isFailing) report(`traces: ${collector.url}: ${outcome}: ${why}`);
    isFailing = why !== undefined;
    // While it fails, the count grows with each span.
    if (isFailing || dropped === reported) return;
    report(`traces: ${dropped - reported} spans were dropped`);
    reported = dropped;
  };

  async function sendBatch(): Promise<void> {
    const batch = queue.slice(0, BATCH_MAX);
    if (batch.length === 0) return;
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans: batch }] }] });
    const outcome = await post(collector, body);
    if (outcome.outcome === "unavailable") {
      note(outcome);
      failures++;
      wake(Math.max(outcome.afterMs, Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX) * (0.5 + Math.random())));
      return;
    }
    failures = 0;
    queue = queue.slice(batch.length);
    if (outcome.outcome === "refused") dropped += batch.length;
    note(outcome);
    if (queue.length > 0) wake(queue.length >= BATCH_MAX ? 0 : WAIT_MS);
  }

  return {
    onLine(line) {
      const span = line.includes('"span":') ? spanOf(line) : undefined;
      if (span === undefined) return;
      if (queue.length >= QUEUE_MAX) dropped++;
      else queue.push(span);
      if (sending === undefined) wake(WAIT_MS);
    },
    async stop() {
      const untilMs = Date.now() + DEADLINE_MS;
      await sending;
      for (;;) {
        clearTimeout(timer);
        timer = undefined;
        const before = queue.length;
        if (before === 0 || Date.now() > untilMs) break;
        await sendBatch();
        if (queue.length === before) break;
      }
      clearTimeout(timer);
      dropped += queue.length;
      isFailing = false;
      note({ outcome: "taken" });
    },
  };
}

function post(collector: Collector, body: string): Promise<Outcome> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  return sendSignal(collector, body, "rejectedSpans", {
    signal,
    nowMs: Date.now,
    async post(url, request) {
      const { status, headers, body: answer } = await fetch(url, { ...request, signal });
      return { status, headers, text: answer?.pipeThrough(new TextDecoderStream()) };
    },
  });
}

/** The span of a request's line; `undefined` of other lines, and of requests that are not sampled. */
function spanOf(line: string): object | undefined {
  const logged = objectOf(line);
  const { event, trace, span, parentSpan, time, ms, method, status, outcome, entity } = logged;
  if (event !== "request" || typeof trace !== "string" || typeof span !== "string") return undefined;
  const endMs = Date.parse(String(time));
  const failed = Number(status) >= 500 ? { status: { code: ERROR_STATUS } } : {};
  const attributes = {
    "http.request.method": method,
    "url.path": logged["path"],
    "http.response.status_code": status,
    "error.type": Number(status) < 500 ? undefined : outcome === "answered" ? String(status) : outcome,
    ...Object.fromEntries(OWN_MEMBERS.map((name) => [`waybill.${snake(name)}`, logged[name]])),
  };
  return {
    traceId: trace,
    spanId: span,
    ...(typeof parentSpan === "string" ? { parentSpanId: parentSpan } : {}),
    name: typeof entity === "string" ? `${method} ${entity}` : String(method),
    kind: SERVER_KIND,
    startTimeUnixNano: nanosOf(endMs - Number(ms)),
    endTimeUnixNano: nanosOf(endMs),
    attributes: attributesOf(Object.entries(attributes).flatMap(attributeIn)),
    ...failed,
  };
}

/** Members of the line that are attributes under a name of our own. */
const OWN_MEMBERS = ["entity", "layout", "region", "source", "revision", "outcome", "originMs", "attempts"] as const;

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const attributeIn = ([name, value]: readonly [string, unknown]): readonly (readonly [string, string | number])[] =>
  typeof value === "string" || Number.isSafeInteger(value) ? [[name, value as string | number]] : [];
