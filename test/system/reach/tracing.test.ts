import { createServer, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";

/** Origins with the real OpenTelemetry SDK and its default sampler record behind the gateway what they record without it. */

const ID = "01990f04-d900-8009-8040-000000000001";
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";

/** A span as the SDKs of all major versions export it. */
interface Span {
  spanContext(): { readonly traceId: string; readonly traceState?: { serialize(): string } };
  readonly parentSpanId?: string;
  readonly parentSpanContext?: { readonly spanId: string };
}

interface Sdk {
  readonly InMemorySpanExporter: new () => { getFinishedSpans(): Span[]; reset(): void };
  readonly SimpleSpanProcessor: new (exporter: unknown) => object;
  readonly BasicTracerProvider: new (
    options: object,
  ) => {
    getTracer(name: string): { startSpan(name: string, options: object, context: unknown): { end(): void } };
  };
}

interface Propagator {
  extract(context: unknown, carrier: unknown, getter: object): unknown;
}

/** Not by name: a machine may lack them. */
const load = (name: string): Promise<Record<string, never> | undefined> =>
  import(/* @vite-ignore */ name).catch(() => undefined);

const getter = {
  get: ({ headers }: IncomingMessage, name: string) => headers[name.toLowerCase()],
  keys: ({ headers }: IncomingMessage) => Object.keys(headers),
};

describe.each(["1", "2"])("OpenTelemetry %s", async (major) => {
  const [api, sdk, core, b3] = await Promise.all(
    ["@opentelemetry/api", `otel-trace-${major}`, `otel-core-${major}`, `otel-b3-${major}`].map(load),
  );
  const isHere = api !== undefined && sdk !== undefined && core !== undefined && b3 !== undefined;
  if (!isHere)
    process.stderr.write(`note: OpenTelemetry ${major} is not installed here, so its origins were not tried\n`);

  describe.runIf(isHere)("at an origin", () => {
    const { InMemorySpanExporter, SimpleSpanProcessor, BasicTracerProvider } = (sdk ?? {}) as unknown as Sdk;
    const { ROOT_CONTEXT } = (api ?? {}) as unknown as { ROOT_CONTEXT: unknown };
    const { W3CTraceContextPropagator, CompositePropagator } = (core ?? {}) as unknown as {
      W3CTraceContextPropagator: new () => Propagator;
      CompositePropagator: new (options: { propagators: Propagator[] }) => Propagator;
    };
    const { B3Propagator } = (b3 ?? {}) as unknown as { B3Propagator: new () => Propagator };

    let exporter: InstanceType<Sdk["InMemorySpanExporter"]>;
    let origin: ReturnType<typeof createServer>;
    let straight: string;
    let stack: Stack;
    beforeAll(async () => {
      exporter = new InMemorySpanExporter();
      const processor = new SimpleSpanProcessor(exporter);
      const provider = new BasicTracerProvider({ spanProcessors: [processor] });
      const tracer = provider.getTracer("origin");
      const propagator = new CompositePropagator({
        propagators: [new B3Propagator(), new W3CTraceContextPropagator()],
      });
      origin = createServer((request, response) => {
        tracer.startSpan("request", { kind: 1 }, propagator.extract(ROOT_CONTEXT, request, getter)).end();
        response.end("ok");
      });
      await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
      const address = origin.address();
      if (address === null || typeof address === "string") throw new TypeError("no TCP address");
      straight = `http://127.0.0.1:${address.port}`;
      const declared = readDemoTable();
      const regions = Object.keys(declared.regions).map((name) => [name, { origins: [{ url: straight }] }]);
      stack = await startStack({ ...declared, regions: Object.fromEntries(regions) });
    }, 60_000);
    afterAll(async () => {
      await stack?.stop();
      origin?.closeAllConnections();
      await new Promise((resolve) => origin?.close(resolve));
    });

    /** The origin's record of one request; a trace that it begins itself has an ID of its own. */
    const recordedOf = async (url: string, headers: Record<string, string>) => {
      exporter.reset();
      await (await fetch(`${url}/orders/${ID}`, { headers })).text();
      return exporter.getFinishedSpans().map((span) => {
        const { traceId, traceState } = span.spanContext();
        return {
          trace: traceId === TRACE_ID ? traceId : "its own",
          parent: span.parentSpanId ?? span.parentSpanContext?.spanId,
          state: traceState?.serialize(),
        };
      });
    };

    it.each<[string, Record<string, string>, number]>([
      ["nothing", {}, 1],
      ["a sampled trace", { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: "a=1" }, 1],
      ["a trace that is not sampled", { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` }, 0],
      ["a malformed trace", { traceparent: `00-${TRACE_ID}-${PARENT_ID}`, tracestate: "a=1" }, 1],
      ["b3", { b3: `${TRACE_ID}-${PARENT_ID}-1` }, 1],
      ["b3 that is not sampled", { b3: `${TRACE_ID}-${PARENT_ID}-0` }, 0],
      ["several fields of b3", { "x-b3-traceid": TRACE_ID, "x-b3-spanid": PARENT_ID, "x-b3-sampled": "1" }, 1],
    ])("records with %s what it records without a gateway", async (_, headers, count) => {
      const recorded = await recordedOf(stack.url, headers);
      expect(recorded).toHaveLength(count);
      expect(recorded).toEqual(await recordedOf(straight, headers));
    });
  });
});
