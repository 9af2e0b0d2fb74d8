import { describe, expect, it } from "vitest";
import { type PumpLimits, pump } from "../../../src/proxy/pump.ts";

const NO_LIMITS: PumpLimits = { idleMs: 0, untilMs: undefined, nowMs: Date.now };

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A source that gives its pieces with waits before them, and then ends, breaks or falls silent. */
function source(
  pieces: readonly { readonly text: string; readonly afterMs?: number }[],
  end: "close" | "break" | "hang",
) {
  let cancelled: unknown;
  const stream = new ReadableStream({
    type: "bytes",
    async start(controller) {
      for (const { text, afterMs = 0 } of pieces) {
        if (afterMs > 0) await wait(afterMs);
        controller.enqueue(new TextEncoder().encode(text));
      }
      if (end === "close") controller.close();
      if (end === "break") {
        // An error discards what has not been read yet.
        await wait(30);
        controller.error(new Error("the origin broke"));
      }
    },
    cancel(reason) {
      cancelled = reason;
    },
  });
  return { stream, cancelled: () => cancelled };
}

/** Reads to the end, and says how it ended. */
async function drain(stream: ReadableStream<Uint8Array>, pauseMs = 0): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      if (pauseMs > 0) await wait(pauseMs);
    }
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}

async function carry(from: ReadableStream<Uint8Array>, limits: PumpLimits, pauseMs = 0) {
  const { readable, writable } = new IdentityTransformStream();
  const [end, got] = await Promise.all([pump(from, writable, limits), drain(readable, pauseMs)]);
  return { end, ...got };
}

describe("a pumped body", () => {
  it("arrives whole and in order", async () => {
    const { stream } = source([{ text: "one " }, { text: "two ", afterMs: 10 }, { text: "three" }], "close");
    expect(await carry(stream, NO_LIMITS)).toEqual({ end: "complete", text: "one two three", broken: false });
  });

  it("may be empty", async () => {
    expect(await carry(source([], "close").stream, NO_LIMITS)).toEqual({ end: "complete", text: "", broken: false });
  });

  it("arrives in the same octets when it is large", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const all = new Uint8Array(60_000 * 20);
    for (let at = 0; at < 20; at++) all.set(bytes, at * bytes.length);
    const { readable, writable } = new IdentityTransformStream();
    const done = pump(new Response(all).body as ReadableStream<Uint8Array>, writable, NO_LIMITS);
    const got = new Uint8Array(await new Response(readable).arrayBuffer());
    expect(await done).toBe("complete");
    expect(got.length).toBe(all.length);
    expect(got.every((byte, at) => byte === all[at])).toBe(true);
  });

  it("that breaks is broken for the receiver too, never complete", async () => {
    const { stream } = source([{ text: "half" }], "break");
    expect(await carry(stream, NO_LIMITS)).toEqual({ end: "source-failed", text: "half", broken: true });
  });

  it("that falls silent is cut after the idle time, and the source is told", async () => {
    const { stream, cancelled } = source([{ text: "half" }], "hang");
    const startedMs = Date.now();
    expect(await carry(stream, { ...NO_LIMITS, idleMs: 80 })).toEqual({ end: "idle", text: "half", broken: true });
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(79);
    expect(cancelled()).toBeInstanceOf(Error);
  });

  it("may take longer than the idle time as a whole", async () => {
    const pieces = Array.from({ length: 6 }, () => ({ text: "x", afterMs: 40 }));
    expect(await carry(source(pieces, "close").stream, { ...NO_LIMITS, idleMs: 150 })).toMatchObject({
      end: "complete",
      text: "xxxxxx",
    });
  });

  it("is not idle while the receiver does not read", async () => {
    const pieces = Array.from({ length: 3 }, (_, at) => ({ text: String(at) }));
    const got = await carry(source(pieces, "close").stream, { ...NO_LIMITS, idleMs: 60 }, 150);
    expect(got).toEqual({ end: "complete", text: "012", broken: false });
  });

  it("is cut at the end of its time, however lively it is", async () => {
    const pieces = Array.from({ length: 50 }, () => ({ text: "x", afterMs: 20 }));
    const got = await carry(source(pieces, "close").stream, { ...NO_LIMITS, untilMs: Date.now() + 100 });
    expect(got).toMatchObject({ end: "late", broken: true });
  });

  it("is cut at the end of its time while the receiver does not read", async () => {
    const { stream } = source([{ text: "a" }, { text: "b" }], "hang");
    const { readable, writable } = new IdentityTransformStream();
    expect(await pump(stream, writable, { ...NO_LIMITS, untilMs: Date.now() + 60 })).toBe("late");
    expect(await drain(readable)).toMatchObject({ broken: true });
  });

  it("is cut when its receiver must take it in time and does not", async () => {
    const { stream, cancelled } = source([{ text: "a" }, { text: "b" }], "hang");
    const { writable } = new IdentityTransformStream();
    expect(await pump(stream, writable, { ...NO_LIMITS, sinkIdleMs: 50 })).toBe("sink-idle");
    expect(cancelled()).toBeInstanceOf(Error);
  });

  it("ends when its receiver is known to have left, though there is nothing to give it", async () => {
    const { stream, cancelled } = source([{ text: "a" }], "hang");
    const { readable, writable } = new IdentityTransformStream();
    const client = new AbortController();
    const broken: string[] = [];
    const done = pump(stream, writable, { ...NO_LIMITS, left: client.signal, onBreak: () => broken.push("told") });
    await readable.getReader().read();
    client.abort();
    expect(await done).toBe("sink-failed");
    expect(cancelled()).toBeInstanceOf(Error);
    expect(broken).toEqual([]);
  });

  it("tells of a break before its receiver could take the end for a good one", async () => {
    const order: string[] = [];
    const { readable, writable } = new IdentityTransformStream();
    const got = drain(readable).then(() => order.push("ended"));
    const done = pump(source([{ text: "a" }], "break").stream, writable, {
      ...NO_LIMITS,
      onBreak: () => order.push("told"),
    });
    expect(await done).toBe("source-failed");
    await got;
    expect(order).toEqual(["told", "ended"]);
  });

  it("whose receiver leaves stops, and the source is told", async () => {
    const { stream, cancelled } = source(
      [{ text: "a" }, { text: "b", afterMs: 20 }, { text: "c", afterMs: 20 }],
      "hang",
    );
    const { readable, writable } = new IdentityTransformStream();
    const done = pump(stream, writable, NO_LIMITS);
    const reader = readable.getReader();
    await reader.read();
    await reader.cancel();
    expect(await done).toBe("sink-failed");
    expect(cancelled()).toBeInstanceOf(Error);
  });
});

describe("parts of a body", () => {
  const BYTES = 2_000_000;
  const octets = new Uint8Array(BYTES).map((_, at) => at % 251);

  /** Sizes of the parts in which a sink gets a body, and the body. */
  async function partsOf(from: ReadableStream<Uint8Array>, limits: PumpLimits) {
    const parts: number[] = [];
    const got = new Uint8Array(BYTES);
    let bytes = 0;
    const sink = new WritableStream<Uint8Array>({
      write(part) {
        got.set(part, bytes);
        bytes += part.byteLength;
        parts.push(part.byteLength);
      },
    });
    const end = await pump(from, sink, limits);
    return { end, parts, bytes, isSame: got.every((octet, at) => octet === (at < bytes ? octets[at] : 0)) };
  }

  const whole = () => new Response(octets).body as ReadableStream<Uint8Array>;

  it("have all of it", async () => {
    const got = await partsOf(whole(), NO_LIMITS);
    expect(got).toMatchObject({ end: "complete", bytes: BYTES, isSame: true });
    expect(Math.max(...got.parts)).toBe(65_536);
  });

  it("pass as they come where a fast body becomes slow: it is not idle", async () => {
    const fast = Array.from({ length: 4 }, () => ({ text: "x".repeat(70_000) }));
    const slow = Array.from({ length: 6 }, () => ({ text: "x".repeat(100), afterMs: 150 }));
    const { stream } = source([...fast, ...slow], "close");
    expect(await partsOf(stream, { ...NO_LIMITS, idleMs: 600 })).toMatchObject({ end: "complete", bytes: 280_600 });
  });

  it.each(["break", "hang"] as const)("are broken where a fast body ends by a %s", async (end) => {
    const { stream } = source([{ text: "x".repeat(70_000) }, { text: "x".repeat(70_000) }], end);
    const limits = { ...NO_LIMITS, untilMs: Date.now() + 500 };
    expect((await partsOf(stream, limits)).end).toBe(end === "break" ? "source-failed" : "late");
  });

  it("are held to digests, the last one at the end", async () => {
    let seen = 0;
    const check = {
      update: async (part: Uint8Array) => {
        seen += part.byteLength;
      },
      isTrue: async () => seen === BYTES,
    };
    expect(await partsOf(whole(), { ...NO_LIMITS, check })).toMatchObject({
      end: "complete",
      isSame: true,
    });
    const wrong = await partsOf(whole(), {
      ...NO_LIMITS,
      check: { ...check, isTrue: async () => false },
    });
    expect(wrong.end).toBe("false-digest");
    expect(wrong.bytes).toBeLessThan(BYTES);
  });
});
