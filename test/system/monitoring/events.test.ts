import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EventLog, LogEvent } from "../../../src/formats/console-api.ts";
import type { DemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";
import { isSigned, type Message, startReceiver } from "./receiver.ts";

/** Events of a real gateway, and a real receiver that fails, is slow, and comes back. */

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;
const WAIT_MS = 30_000;

const ORDER_KZ = "01990f04-d900-8005-8040-000000000001";
const ORDER_DE = "01990f04-d900-8009-8040-000000000001";

const tableOf = (eu: string, ap: string): DemoTable =>
  ({
    regions: {
      eu: { origins: [{ url: eu }] },
      ap: { origins: [{ url: ap }], breaker: { failures: 2, openMs: 1_000 } },
    },
    countries: { KZ: 5, DE: 9 },
    entities: { order: { path: "/orders/:id", ids: [{ layout: "iuid", service: 1 }] } },
    routes: [{ when: { country: ["KZ"] }, region: "ap" }],
    default: "eu",
  }) as unknown as DemoTable;

async function listen(port: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  return { server, port: typeof address === "object" ? (address?.port ?? 0) : 0 };
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function until<Value>(
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const endMs = Date.now() + WAIT_MS;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > endMs) throw new Error("it did not come");
    await delay(200);
  }
}

describe("a gateway with a receiver of events", () => {
  let stack: Stack;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let eu: Awaited<ReturnType<typeof listen>>;
  let ap: Awaited<ReturnType<typeof listen>>;
  let answer: (message: Message) => number | "never" = () => 200;

  beforeAll(async () => {
    [eu, ap] = await Promise.all([listen(0), listen(0)]);
    receiver = await startReceiver((message, response) => {
      const status = answer(message);
      if (status !== "never") response.writeHead(status, status === 307 ? { location: "/elsewhere" } : {}).end();
    });
    stack = await startStack(tableOf(`http://127.0.0.1:${eu.port}`, `http://127.0.0.1:${ap.port}`), {
      REPORT_SECONDS: "1",
      CHECK_SECONDS: "1",
      GATEWAY_NAME: "eu-edge",
      ENVIRONMENT: "production",
      EVENTS_WEBHOOK: receiver.url,
      EVENTS_WEBHOOK_SECRET: SECRET,
    });
  }, 60_000);

  afterAll(async () => {
    await stack?.stop();
    receiver.stop();
    await Promise.all([close(eu.server), close(ap.server)]);
  });

  const order = async (id: string) => (await fetch(`${stack.url}/orders/${id}`)).status;
  const log = async (): Promise<EventLog> =>
    (await fetch(`${stack.url}/-/events/log?limit=100`)).json() as Promise<EventLog>;
  const find = async (type: string): Promise<LogEvent | undefined> =>
    (await log()).events.find((event) => event.type === type);
  const of = (type: string) => receiver.messages.filter(({ body }) => body.type === type);

  it("tells of a region that is down, and sends it again with the same ID until it is taken", async () => {
    expect([await order(ORDER_KZ), await order(ORDER_DE)]).toEqual([200, 200]);
    let tries = 0;
    answer = ({ body }) => (body.type === "region.down" && ++tries < 2 ? 500 : 200);
    await close(ap.server);
    const downFromMs = Date.now();
    const event = await until(async () => {
      await order(ORDER_KZ);
      return find("region.down");
    });
    expect(event).toMatchObject({ kind: "region", region: "ap", words: expect.stringMatching(/^ap is down\. /) });
    expect(Math.abs(Date.parse(event.time) - downFromMs)).toBeLessThan(15_000);
    // The event says what the gateway does.
    expect([(await order(ORDER_KZ)) >= 500, await order(ORDER_DE)]).toEqual([true, 200]);
    const { regions } = (await (await fetch(`${stack.url}/-/regions`)).json()) as {
      readonly regions: Readonly<Record<string, { readonly state: string; readonly since?: string }>>;
    };
    if (regions["ap"]?.state === "down") expect(regions["ap"].since).toBe(event.time);
    const sent = await until(() => of("region.down").length > 1 && of("region.down"));
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
    expect(sent.every((message) => isSigned(message, SECRET))).toBe(true);
    const gapMs = (sent[1]?.atMs ?? 0) - (sent[0]?.atMs ?? 0);
    expect(gapMs).toBeGreaterThan(4_000);
    const { id, kind, words, evidence } = event;
    expect(sent[0]?.body).toEqual({
      type: "region.down",
      timestamp: event.time,
      data: { id, kind, words, evidence, region: "ap", gateway: "eu-edge", environment: "production" },
    });
  });

  it("tells of a publication at once, and serves while the receiver never answers", async () => {
    answer = () => "never";
    const text = JSON.stringify({ ...stack.declared, countries: { KZ: 5, DE: 9, BR: 7 } });
    const note = encodeURIComponent("add Brazil");
    const headers = { "if-match": '"1"', "waybill-note": note, "content-type": "application/json" };
    const made = await fetch(`${stack.url}/-/table`, { method: "PUT", headers, body: text });
    expect(made.status).toBe(201);
    const event = await until(() => find("publication.published"));
    expect(event).toMatchObject({ revision: 2, words: expect.stringMatching(/ published revision 2: add Brazil$/) });
    await until(() => of("publication.published").length > 0);
    // The receiver has it, and says nothing for as long as it can.
    const startedMs = Date.now();
    for (let at = 0; at < 20; at++) expect(await order(ORDER_DE)).toBe(200);
    expect((await log()).source).toBe("all");
    expect(Date.now() - startedMs).toBeLessThan(10_000);
    answer = () => 200;
  });

  it("comes on the stream of the console too", async () => {
    const abort = new AbortController();
    const response = await fetch(`${stack.url}/-/events`, { signal: abort.signal });
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes("region.down") && text.includes("publication.published")) break;
    }
    abort.abort();
    const events = [...text.matchAll(/^event: log\ndata: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? "") as LogEvent,
    );
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted((a, b) => a - b));
  });

  it("never prints the secret", () => {
    const lines = stack.gateway.lines.join("\n");
    expect(lines).toContain('"event":"webhook-failed"');
    expect([lines.includes("whsec_"), lines.includes("/hooks")]).toEqual([false, false]);
  });
});
