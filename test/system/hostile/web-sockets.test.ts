import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "./ask.ts";
import { type Expected, type FaultyRegion, HASTY, impossible, late, lines, lost, ok, passed } from "./faults/fault.ts";
import { outcomeExpected, outcomeOf } from "./faults/try-fault.ts";
import { type HostileStack, originOf, startHostileStack } from "./gateway.ts";
import type { Step } from "./origin.ts";
import { settles } from "./settle.ts";
import { closeFrame, frame, handshake, maskedFrame, OPCODE, switching } from "./web-socket.ts";

const PATIENCE_MS = 5_000;
const METADATA = "http://169.254.169.254/";
const wait = { pauseMs: 50 };
const hi = frame(OPCODE.text, "hi");

interface Refusal extends FaultyRegion {
  readonly expected: Expected;
}

const refusal = (name: string, steps: readonly Step[], expected: Expected, region = {}): Refusal => ({
  name,
  origin: { steps },
  expected,
  ...region,
});

/** The handshake with one line of it changed. */
const changed =
  (line: RegExp, by: string): Step =>
  (request) =>
    switching(request).replace(line, by);

const REFUSALS: readonly Refusal[] = [
  refusal("says-403", [lines("HTTP/1.1 403 Forbidden", "content-length: 2"), "no"], passed(403, "no")),
  refusal("says-200", [ok("content-length: 2"), "ok"], passed(200, "ok")),
  refusal("says-426", [lines("HTTP/1.1 426 Upgrade Required", "content-length: 0")], passed(426, "")),
  refusal(
    "redirects",
    [lines("HTTP/1.1 302 Found", `location: ${METADATA}`, "content-length: 0")],
    passed(302, "", [["location", METADATA]]),
  ),
  refusal("resets-before-head", ["reset!"], lost),
  refusal("closes-in-head", ["HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n", "close!"], lost),
  refusal("stays-silent", ["hang!"], late, { region: HASTY }),
  refusal("accepts-another-key", [changed(/accept: .*/, "accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="), wait], impossible),
  refusal("accepts-no-key", [changed(/sec-websocket-accept: .*\r\n/, ""), wait], impossible),
  refusal("upgrades-to-nothing", [changed(/upgrade: .*\r\n/, ""), wait], impossible),
  refusal("upgrades-to-something-else", [changed(/upgrade: .*/, "upgrade: h2c"), wait], impossible),
  refusal(
    "extends-unasked",
    [changed(/upgrade: .*/, "$&\r\nsec-websocket-extensions: permessage-deflate"), wait],
    impossible,
  ),
];

/** Bytes of an origin once the protocol has changed; it ends the connection afterwards. */
const ENDS = [
  { name: "reset-at-once", bytes: "", end: "reset!" },
  { name: "closed-at-once", bytes: "", end: "close!" },
  { name: "reset-after-a-message", bytes: hi, end: "reset!" },
  { name: "closed-after-a-message", bytes: hi, end: "close!" },
  { name: "closed-in-a-frame", bytes: "\x81\x05he", end: "close!" },
  { name: "close-code-of-its-own", bytes: hi + closeFrame(4001), end: "close!" },
  { name: "close-code-that-is-none", bytes: closeFrame(1005), end: "close!" },
  { name: "close-without-code", bytes: frame(OPCODE.close, ""), end: "close!" },
] as const;

/** Bytes that break the protocol (RFC 6455 §5): they are the client's to judge, and not the gateway's to mend. */
const RUBBISH = [
  { name: "noise", bytes: "\xff".repeat(100) },
  { name: "an-answer-inside", bytes: `${ok("content-length: 2")}ok` },
  { name: "masked-by-the-server", bytes: maskedFrame(OPCODE.text, "hi") },
  { name: "reserved-opcode", bytes: frame(3, "hi") },
  { name: "text-that-is-no-utf-8", bytes: frame(OPCODE.text, "\xff\xfe") },
  { name: "long-ping", bytes: `\x89\x7e\x00\x80${"x".repeat(128)}` },
  { name: "frame-without-end", bytes: `\x82\x7f\x7f${"\xff".repeat(7)}${"x".repeat(1000)}` },
  { name: "continuation-of-nothing", bytes: frame(0, "hi") },
];

const TUNNELS: readonly FaultyRegion[] = [
  ...ENDS.map(({ name, bytes, end }) => ({ name, origin: { steps: [switching, bytes, wait, end] } })),
  ...RUBBISH.map(({ name, bytes }) => ({ name, origin: { steps: [switching, bytes] } })),
];
const MANY: FaultyRegion = { name: "many", origin: { steps: [switching] } };
const SOCKETS = 50;

let stack: HostileStack;
beforeAll(async () => {
  stack = await startHostileStack([...REFUSALS, ...TUNNELS, MANY]);
});
afterAll(() => stack?.stop());

describe("an origin that does not change the protocol", () => {
  it.concurrent.each(REFUSALS)("$name", async ({ name, expected }) => {
    // The connection stays open after an answer: the client has seen enough.
    const onData = (received: string, socket: Socket) => void (received.includes("\r\n\r\n") && socket.end());
    const answer = await ask(stack.gateway.port, handshake(stack.pathTo(name)), { patienceMs: PATIENCE_MS, onData });
    expect(outcomeOf(answer, expected)).toEqual(outcomeExpected(expected));
  });
});

describe("an origin that ends a WebSocket", () => {
  it.concurrent.each(ENDS)(
    "$name: the client gets all that came, no close frame that did not, and the end",
    async ({ name, bytes }) => {
      const answer = await ask(stack.gateway.port, handshake(stack.pathTo(name)), { patienceMs: PATIENCE_MS });
      expect([answer.status, answer.message?.body, answer.end]).toEqual([101, bytes, "whole"]);
    },
  );
});

describe("an origin that sends rubbish through a WebSocket", () => {
  it.concurrent.each(RUBBISH)("$name: as it came, and a client that leaves is rid of it", async ({ name, bytes }) => {
    const onData = (received: string, socket: Socket) => void (received.endsWith(bytes) && socket.resetAndDestroy());
    const answer = await ask(stack.gateway.port, handshake(stack.pathTo(name)), { patienceMs: PATIENCE_MS, onData });
    expect([answer.status, answer.message?.body]).toEqual([101, bytes]);
    const { connections } = originOf(stack.origins, name);
    expect(await settles("still open", connections, (open) => open === 0, 4_000)).toBe(0);
  });
});

describe(`an origin that dies with ${SOCKETS} WebSockets`, () => {
  it("ends them all within 4 s, and leaves the gateway well", async () => {
    const origin = originOf(stack.origins, MANY.name);
    const path = stack.pathTo(MANY.name);
    const opened = Array.from({ length: SOCKETS }, () => openTunnel(stack.gateway.port, path));
    await Promise.all(opened.map(({ isOpen }) => isOpen));
    expect(origin.connections()).toBe(SOCKETS);
    origin.reset();
    const diedAtMs = performance.now();
    await Promise.all(opened.map(({ hasEnded }) => hasEnded));
    expect(performance.now() - diedAtMs).toBeLessThan(4_000);
    const again = openTunnel(stack.gateway.port, path);
    await again.isOpen;
    again.socket.destroy();
  });
});

function openTunnel(port: number, path: string) {
  const socket = connect(port, "127.0.0.1", () => socket.write(handshake(path)));
  socket.on("error", () => undefined);
  const isOpen = new Promise((resolve) => socket.once("data", resolve));
  const hasEnded = new Promise((resolve) => socket.once("close", resolve));
  return { socket, isOpen, hasEnded };
}
