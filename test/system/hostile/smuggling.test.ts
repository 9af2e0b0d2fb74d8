import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DemoTable } from "../demo/demo.ts";
import { type Stack, startStack } from "../stack.ts";
import { ok } from "./faults/fault.ts";
import { ATTEMPTS, type Attempt, PATH } from "./faults/smuggling-cases.ts";
import { idWith } from "./gateway.ts";
import { answerBody, fieldOf, type Message, readMessage } from "./message.ts";
import { type HostileOrigin, startHostileOrigin } from "./origin.ts";

/** Answers with the target, so that an answer to another request is known. */
const own = (request: Message): string => {
  const target = request.startLine.split(" ")[1] ?? "";
  return `${ok(`content-length: ${target.length}`)}${target}`;
};

let origin: HostileOrigin;
let stack: Stack;
beforeAll(async () => {
  origin = await startHostileOrigin({ steps: [own] });
  const table: DemoTable = {
    regions: { eu: { origins: [{ url: origin.url }] } },
    countries: {},
    entities: { parcel: { path: "/parcel/:id", ids: [{ layout: "hotguid" }] } },
    routes: [{ when: { layout: "hotguid", shardKey: `0-${ATTEMPTS.length}` }, region: "eu" }],
    moved: {},
  };
  stack = await startStack(table);
});
afterAll(async () => {
  await stack?.stop();
  await origin?.stop();
});

const CASES = ATTEMPTS.map((attempt, index) => ({ ...attempt, path: `/parcel/${idWith(index)}` }));

describe("octets that some would read as other requests", () => {
  it("come in at least 40 kinds, each with its own path", () => {
    expect(CASES.length).toBeGreaterThan(40);
    expect(CASES.every(({ path }) => path.length === PATH.length)).toBe(true);
  });

  it.concurrent.each(CASES)("$name", async ({ path, bytes, answers, reach }: Attempt & { readonly path: string }) => {
    const received = await converse(bytes.replaceAll(PATH, path));
    const found = answersIn(received);
    expect(found.map(({ startLine }) => Number(startLine.split(" ")[1]))).toEqual(answers);
    const reached = origin.requests.filter(({ startLine }) => startLine.includes(path));
    const whole = reached.filter(({ isWhole }) => isWhole);
    expect(whole.map(asText)).toEqual(reach.map((text) => text.replaceAll(PATH, path)));
    // A broken-off request is of this client's making too.
    for (const { startLine, isWhole } of reached) if (!isWhole) expect(startLine).toBe(`POST ${path} HTTP/1.1`);
    // Each answer is to the request that it stands for.
    const targets = found.filter((answer) => fieldOf(answer, "waybill-region") !== undefined).map(({ body }) => body);
    expect(targets).toEqual(whole.map(({ startLine }) => startLine.split(" ")[1]));
  });
});

it("the origin has received nothing else", () => {
  expect(origin.garbage).toEqual([]);
  const strays = origin.requests.filter(({ startLine }) => !CASES.some(({ path }) => startLine.includes(path)));
  expect(strays).toEqual([]);
});

const asText = ({ startLine, body }: Message): string => `${startLine.split(" ").slice(0, 2).join(" ")} ${body}`;

/** Sends all bytes, then ends its side, and reads until the gateway ends its own. */
function converse(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(stack.gateway.port, "127.0.0.1", () => socket.end(Buffer.from(bytes, "latin1")));
    socket.setTimeout(10_000, () => reject(new Error("the gateway neither answered nor closed")));
    socket.on("data", (chunk) => chunks.push(chunk));
    // A gateway that refuses need not read on: what it said before counts.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

/** All final answers; bytes that are none fail. */
function answersIn(received: string): readonly Message[] {
  const found: Message[] = [];
  let rest = received;
  while (rest !== "") {
    const reading = readMessage(rest, answerBody("GET"));
    if (reading.state !== "whole") throw new Error(`no whole answer: ${JSON.stringify(rest)}`);
    if (!/^HTTP\/1\.1 1/.test(reading.message.startLine)) found.push(reading.message);
    rest = rest.slice(reading.end);
  }
  return found;
}
