import { createServer } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sendAgain } from "../../../docs/examples/send-again.ts";
import { iuid } from "../../../src/ids/index.ts";
import { type Stack, startStack } from "../stack.ts";
import { readDemoTable } from "./demo.ts";
import { type FlakyNetwork, fetchOnce, startFlakyNetwork } from "./flaky-network.ts";

/** An app that sends as docs/guides/mobile-apps.md says, through a network that loses and repeats, creates each entity once. */

const SEED = 20_261_122;
const CREATES = 120;
const AT_ONCE = 6;

/** Contents of all regions: a row for each ID, as a unique index makes it. */
const rows = new Map<string, string>();
const asked: string[] = [];

const origin = createServer((request, response) => {
  const id = String(request.headers["waybill-entity-id"]);
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("error", () => undefined);
  request.on("end", () => {
    asked.push(id);
    const isNew = !rows.has(id);
    if (isNew) rows.set(id, Buffer.concat(chunks).toString());
    // Some answers are lost on this side too.
    if (asked.length % 7 === 0) {
      response.destroy();
      return;
    }
    response.writeHead(isNew ? 201 : 200, { "content-type": "application/json" }).end(rows.get(id));
  });
});

let stack: Stack;
let network: FlakyNetwork;
beforeAll(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const { port } = origin.address() as { readonly port: number };
  const demo = readDemoTable();
  const regions = Object.fromEntries(
    Object.keys(demo.regions).map((name) => [name, { origins: [{ url: `http://127.0.0.1:${port}` }] }]),
  );
  stack = await startStack({ ...demo, regions });
  network = await startFlakyNetwork(Number(new URL(stack.url).port), SEED);
});
afterAll(async () => {
  await network?.stop();
  await stack?.stop();
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
});

/** An app's stored action, before it sends: the same in every attempt. */
interface Action {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ownId = (at: number): string => {
  const ms = Date.now().toString(16).padStart(12, "0");
  return `${ms.slice(0, 8)}-${ms.slice(8)}-8005-8040-${at.toString(16).padStart(12, "0")}`;
};

const actionOf = (at: number): Action => {
  const json = { "content-type": "application/json" };
  const body = JSON.stringify({ create: at });
  const key = { ...json, "idempotency-key": `action-${at}`, "x-country": "KZ" };
  if (at % 3 === 0) return { method: "POST", path: "/orders", headers: key, body };
  const id = ownId(at);
  if (at % 3 === 1) return { method: "POST", path: "/orders", headers: { ...key, "x-order-id": id }, body };
  return { method: "PUT", path: `/orders/${id}`, headers: { ...json, "if-none-match": "*" }, body };
};

/** Until there is an answer, however often the app is started again. */
async function run({ method, path, headers, body }: Action): Promise<Response> {
  for (;;) {
    try {
      const request = new Request(`http://127.0.0.1:${network.port}${path}`, { method, headers, body });
      const answer = await sendAgain(request, { fetch: fetchOnce, pause: async () => undefined, random: () => 0 });
      if (answer.status < 500 && answer.status !== 409) return answer;
    } catch {
      // No answer yet.
    }
  }
}

it("exactly one entity for each action", async () => {
  const actions = Array.from({ length: CREATES }, (_, at) => actionOf(at));
  const answers: Response[] = [];
  let next = 0;
  const work = async () => {
    while (next < actions.length) {
      const at = next++;
      answers[at] = await run(actions[at] as Action);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 201)).toEqual([]);
  expect([...rows.values()].toSorted()).toEqual(actions.map(({ body }) => body).toSorted());
  for (const [at, answer] of answers.entries()) {
    expect(await answer.text()).toBe(actions[at]?.body);
    const id = answer.headers.get("waybill-entity-id");
    if (id !== null) expect(rows.get(id)).toBe(actions[at]?.body);
  }
  expect([...rows.keys()].filter((id) => !iuid.parse(id).ok)).toEqual([]);
  // The network was as bad as it says.
  expect(network.fates.size).toBe(7);
  expect(Math.min(...network.fates.values())).toBeGreaterThan(CREATES / 10);
  expect(asked.length).toBeGreaterThan(CREATES);
});
