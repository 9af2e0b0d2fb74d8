import { describe, expect, it } from "vitest";
import type { Answer, Problem } from "../../../src/console/app/api.ts";
import { type Made, type SendContext, sentNote, settle } from "../../../src/console/publish/send.ts";
import type { AuditEntry } from "../../../src/formats/table-api.ts";

const answer = <Value>(value: Value): Answer<Value> => ({ ok: true, value, headers: new Headers(), status: 200 });
const failed = (slug: string, status: number, members: Problem["members"] = {}): Answer<never> => ({
  ok: false,
  problem: { slug, title: slug, detail: "", status, members },
});
const LOST = failed("unreachable", 0);

const entry = (id: number, changes: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  time: "2026-11-26T21:00:00Z",
  author: "oncall",
  action: "publish",
  revision: 43,
  outcome: "done",
  note: "why",
  ...changes,
});

type Log = Answer<{ readonly entries: readonly AuditEntry[] }>;

/** `logs`: answers of the audit log, one after the other; the last one stays. */
async function settled(sent: Answer<Made>, ...logs: readonly Log[]) {
  let nowMs = 0;
  let asked = 0;
  let doubts = 0;
  const context: SendContext = {
    author: "oncall",
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
    audit: async () => logs[Math.min(asked++, logs.length - 1)] as Log,
    onDoubt: () => {
      doubts++;
    },
  };
  const result = await settle({ action: "publish", note: "why", send: async () => sent }, context);
  return { ...result, doubts, tookMs: nowMs };
}

it.each([
  ["two lines\nof text", "two lines of text"],
  ["half of a character \ud83d", "half of a character"],
  ["\t", ""],
])("%j is sent as one line that the gateway takes", (typed, sent) => {
  expect(sentNote(typed)).toBe(sent);
  expect(() => encodeURIComponent(sentNote(typed))).not.toThrow();
});

const log = (...entries: readonly AuditEntry[]): Log => answer({ entries });

describe("a sent change", () => {
  it("ends with its answer: made, refused, or after another one", async () => {
    expect(await settled(answer({ revision: 43 }), log(entry(7)))).toMatchObject({
      is: "made",
      revision: 43,
      doubts: 0,
    });
    expect(await settled(failed("invalid-table", 422), log())).toMatchObject({ is: "refused", doubts: 0 });
    expect(await settled(failed("stale-revision", 412), log())).toMatchObject({ is: "stale", doubts: 0 });
    expect(await settled(failed("canary-running", 409), log())).toMatchObject({ is: "stale" });
    const none = failed("control-plane-unavailable", 503, { outcome: "none" });
    expect(await settled(none, log())).toMatchObject({ is: "refused", doubts: 0 });
  });

  it("whose answer is lost is looked up in the log: made under its number, whoever else changed what", async () => {
    const others = [entry(9, { author: "platform" }), entry(8, { note: "else" }), entry(6)];
    const made = await settled(LOST, log(entry(6)), log(entry(10), ...others));
    expect(made).toMatchObject({ is: "made", revision: 43, doubts: 1, tookMs: 0 });
  });

  it("is asked after until the gateway answers again, and until it could not be made any more", async () => {
    const back = await settled(LOST, log(entry(6)), LOST, failed("unauthorized", 401), log(entry(6)), log(entry(7)));
    expect(back).toMatchObject({ is: "made", tookMs: 6_000 });
    const never = await settled(failed("internal-error", 500), log(entry(6)));
    expect(never.is).toBe("not-made");
    expect(never.tookMs).toBeGreaterThan(40_000);
  });

  it("that was refused is said to be refused, by the log too", async () => {
    const stale = await settled(LOST, log(entry(6)), log(entry(7, { outcome: "stale-revision" })));
    expect(stale).toMatchObject({ is: "stale" });
    const invalid = await settled(LOST, log(entry(6)), log(entry(7, { outcome: "invalid-table" })));
    expect(invalid).toMatchObject({ is: "refused", problem: { slug: "invalid-table" } });
  });

  it("is not sent where the log cannot be read before", async () => {
    let isSent = false;
    const context = {
      author: "oncall",
      nowMs: () => 0,
      pause: async () => undefined,
      audit: async () => LOST,
      onDoubt: () => undefined,
    };
    const send = async () => {
      isSent = true;
      return answer({ revision: 43 });
    };
    expect(await settle({ action: "publish", note: "", send }, context)).toMatchObject({ is: "not-made" });
    expect(isSent).toBe(false);
  });
});
