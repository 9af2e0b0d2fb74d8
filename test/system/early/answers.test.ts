import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DemoTable } from "../demo/demo.ts";
import { fieldOf } from "../hostile/message.ts";
import { type Stack, startStack } from "../stack.ts";
import { GZIPPED, ID, startEarlyOrigin, tableTo, ULID } from "./origin.ts";
import { type SlowUpload, uploadSlowly } from "./slow-upload.ts";

/** RFC 9112 §9.6: an answer that comes before its request is whole must reach the client all the same. */

const BYTES = 30_000;
const slowly = { bytes: BYTES, pieceBytes: 2_000, pauseMs: 25 } as const;
const framings = ["length", "chunks"] as const;

/** So that pages are closed: nobody has it. */
const ADMIN_TOKENS = JSON.stringify([{ name: "ci", scope: "viewer", sha256: "0f".repeat(32) }]);

let origin: Awaited<ReturnType<typeof startEarlyOrigin>>;
const stacks: Stack[] = [];
const start = async (vars: Readonly<Record<string, string>> = {}) => {
  const stack = await startStack(tableTo(origin.url) as unknown as DemoTable, { ADMIN_TOKENS, ...vars });
  stacks.push(stack);
  return stack;
};
let stack: Stack;

beforeAll(async () => {
  origin = await startEarlyOrigin();
  stack = await start();
});
afterAll(async () => {
  for (const each of stacks) await each.stop();
  await origin?.stop();
});

const head = (method: string, path: string, fields: readonly string[] = []) => [
  `${method} ${path} HTTP/1.1`,
  "host: gw.test",
  ...fields,
];

interface Row {
  readonly what: string;
  readonly path: string;
  readonly status: number;
  readonly body: string | RegExp;
  readonly method?: string;
  readonly fields?: readonly string[];
  /** An answer whose end cannot be held comes after the body was read. */
  readonly isLate?: boolean;
}

const gzip = GZIPPED.toString("latin1");
const ROWS: readonly Row[] = [
  { what: "an origin's, with a length", path: `/parcels/${ID}/length`, status: 401, body: "no\n" },
  { what: "an origin's, in chunks", path: `/parcels/${ID}/chunks`, status: 401, body: "no\n" },
  { what: "an origin's of one byte", path: `/parcels/${ID}/one`, status: 403, body: "x" },
  { what: "an origin's of none", path: `/parcels/${ID}/empty`, status: 401, body: "" },
  { what: "an origin's without content", path: `/parcels/${ID}/none`, status: 204, body: "", isLate: true },
  { what: "an origin's that is large", path: `/parcels/${ID}/large`, status: 422, body: "y".repeat(300_000) },
  { what: "an origin's in gzip", path: `/parcels/${ID}/gzip`, status: 403, body: gzip },
  { what: "an origin's in gzip and chunks", path: `/parcels/${ID}/gzip-chunks`, status: 403, body: gzip },
  { what: "an origin's that closes", path: `/parcels/${ID}/close`, status: 413, body: "no\n" },
  { what: "an origin's, passed as it came", path: `/boxes/${ID}/length`, status: 401, body: "no\n" },
  { what: "an origin's in chunks, passed as it came", path: `/boxes/${ID}/chunks`, status: 401, body: "no\n" },
  { what: "an origin's in gzip, passed as it came", path: `/boxes/${ID}/gzip`, status: 403, body: gzip },
  { what: "an origin's to PUT", method: "PUT", path: `/parcels/${ID}/length`, status: 401, body: "no\n" },
  { what: "an origin's to DELETE", method: "DELETE", path: `/parcels/${ID}/length`, status: 401, body: "no\n" },
  { what: "a problem with the ID", path: "/parcels/nonsense", status: 400, body: /malformed-id/ },
  { what: "a problem of an unknown path", path: "/nowhere", status: 404, body: /unrouted-path/ },
  { what: "a problem of a GET", method: "GET", path: "/parcels/nonsense", status: 400, body: /malformed-id/ },
  { what: "a problem of a HEAD", method: "HEAD", path: "/parcels/nonsense", status: 400, body: "", isLate: true },
  { what: "a redirect", path: `/any/${ULID}`, status: 307, body: "" },
  { what: "a problem of a page", path: "/-/table", method: "PUT", status: 401, body: /unauthenticated/ },
  { what: "another method of a page", path: "/-/health", status: 405, body: /method-not-allowed/ },
  { what: "a body that is too large for a page", path: "/mint", status: 413, body: /body-too-large/ },
  { what: "a body that is no list of IDs", path: "/any", status: 400, body: /problems/, isLate: true },
];

describe.each(framings)("an answer before the end of a body, by %s:", (framing) => {
  it.each(ROWS)("$what", async ({ path, status, body, method = "POST", fields, isLate = false }) => {
    const got = await uploadSlowly(stack.gateway.port, { ...slowly, framing, head: head(method, path, fields) });
    const [answer] = got.answers;
    expect(got.end, got.received.slice(0, 500)).toBe("open");
    expect(answer?.startLine, got.received.slice(0, 500)).toContain(` ${status} `);
    if (typeof body === "string") expect(answer?.body).toBe(body);
    else expect(answer?.body).toMatch(body);
    // The body was read to its end, and the client knew meanwhile.
    expect(got.sentAtEnd).toBe(BYTES);
    if (!isLate && status !== 413) expect(got.sentAtHead).toBeLessThan(BYTES);
  });
});

it("the length of an answer stays", async () => {
  for (const path of [`/parcels/${ID}/length`, "/parcels/nonsense"]) {
    const got = await uploadSlowly(stack.gateway.port, { ...slowly, framing: "chunks", head: head("POST", path) });
    const [answer] = got.answers;
    expect(answer && fieldOf(answer, "content-length")).toBe(String(answer?.body.length));
  }
});

it("the connection stays for the next request", async () => {
  const next = [...head("GET", `/parcels/${ID}`), "", ""].join("\r\n");
  for (const path of [`/parcels/${ID}/length`, `/boxes/${ID}/gzip`, "/parcels/nonsense", `/any/${ULID}`]) {
    const upload: SlowUpload = { ...slowly, framing: "length", head: head("POST", path), next };
    const { answers } = await uploadSlowly(stack.gateway.port, upload);
    expect(answers.map(({ startLine }) => startLine.split(" ")[1])).toEqual([expect.any(String), "200"]);
  }
});

describe("an answer that is not early", () => {
  it.each(framings)("does not wait: %s", async (framing) => {
    const path = `/parcels/${ID}/all-of-it`;
    const got = await uploadSlowly(stack.gateway.port, { ...slowly, framing, head: head("POST", path) });
    expect(got.answers[0]?.body).toBe(`got ${BYTES}\n`);
    expect(fieldOf(got.answers[0] ?? { startLine: "", fields: [], body: "" }, "content-length")).toBe("10");
  });

  it.each(["POST", "PUT", "DELETE", "OPTIONS"])("has no body to wait for: %s with a length of 0", async (method) => {
    for (const path of ["/parcels/nonsense", `/parcels/${ID}/empty`]) {
      const upload = { framing: "length", bytes: 0, pieceBytes: 1, pauseMs: 0, head: head(method, path) } as const;
      const { answers, received } = await uploadSlowly(stack.gateway.port, upload);
      expect(answers, received).toHaveLength(1);
      expect(received.toLowerCase()).toContain("content-length");
    }
  });

  it("comes instead of 100 where the client waits for one (RFC 9110 §10.1.1)", async () => {
    const fields = ["expect: 100-continue"];
    const upload = {
      ...slowly,
      framing: "length",
      sentBytes: 0,
      head: head("POST", "/parcels/nonsense", fields),
    } as const;
    const got = await uploadSlowly(stack.gateway.port, upload);
    expect([got.answers.length, got.end]).toEqual([1, "closed"]);
    expect(got.received).toMatch(/^HTTP\/1\.1 400 /);
    expect(got.heldMs).toBeLessThan(1_000);
  });
});

describe("the wait has limits", () => {
  const paths = [`/parcels/${ID}/length`, `/parcels/${ID}/close`, `/boxes/${ID}/chunks`, "/parcels/nonsense"];

  it("in bytes", async () => {
    const { gateway } = await start({ EARLY_ANSWER_READ_BYTES: "20000" });
    for (const path of [...paths, `/parcels/${ID}/none`]) {
      const upload = { bytes: 2_000_000, pieceBytes: 4_000, pauseMs: 20, framing: "length" } as const;
      const got = await uploadSlowly(gateway.port, { ...upload, head: head("POST", path) });
      expect(got.answers, got.received).toHaveLength(1);
      expect(got.end).not.toBe("open");
      expect(got.sentAtEnd).toBeGreaterThanOrEqual(20_000);
      expect(got.sentAtEnd).toBeLessThan(1_000_000);
    }
  });

  it("in time", async () => {
    const { gateway } = await start({ EARLY_ANSWER_HOLD_MS: "700" });
    for (const path of paths) {
      const upload = { bytes: BYTES, pieceBytes: 10, pauseMs: 50, framing: "chunks" } as const;
      const got = await uploadSlowly(gateway.port, { ...upload, head: head("POST", path) });
      expect(got.answers, got.received).toHaveLength(1);
      expect(got.end).not.toBe("open");
      expect(got.heldMs).toBeGreaterThan(500);
      expect(got.heldMs).toBeLessThan(4_000);
    }
  });

  it("for a client that has stopped", async () => {
    const upload = { ...slowly, framing: "length", sentBytes: 4_000 } as const;
    const got = await uploadSlowly(stack.gateway.port, { ...upload, head: head("POST", `/parcels/${ID}/length`) });
    expect([got.answers.length, got.end]).toEqual([1, "closed"]);
    expect(got.heldMs).toBeLessThan(4_500);
  });

  it.each(["EARLY_ANSWER_READ_BYTES", "EARLY_ANSWER_HOLD_MS"])("and may be off: %s is 0", async (name) => {
    const { gateway } = await start({ [name]: "0" });
    const upload = { ...slowly, framing: "length", sentBytes: 4_000 } as const;
    const got = await uploadSlowly(gateway.port, { ...upload, head: head("POST", `/parcels/${ID}/length`) });
    expect(got.answers).toHaveLength(1);
    expect(got.end).not.toBe("open");
    expect(got.heldMs).toBeLessThan(1_000);
  });

  it("for many at a time: those that only open uploads hold no more than a share", async () => {
    const { gateway } = await start({ EARLY_ANSWER_HOLD_MS: "60000" });
    const upload = {
      bytes: BYTES,
      pieceBytes: 1,
      pauseMs: 500,
      sentBytes: 16,
      framing: "length",
      patienceMs: 0,
    } as const;
    const all = await Promise.all(
      Array.from({ length: 700 }, (_, at) => {
        const path = at % 2 === 0 ? `/parcels/${ID}/length` : "/parcels/nonsense";
        return uploadSlowly(gateway.port, { ...upload, head: head("POST", path) });
      }),
    );
    expect(all.filter(({ end }) => end === "open")).toHaveLength(500);
    // The others are answered as well, and closed.
    expect(all.filter(({ end, answers }) => end !== "open" && answers.length === 1)).toHaveLength(200);
    // Their clients have left: there is room again.
    const later = { ...slowly, framing: "length", head: head("POST", `/parcels/${ID}/length`) } as const;
    expect(await uploadSlowly(gateway.port, later)).toMatchObject({ end: "open", sentAtEnd: BYTES });
  });
});
