import { describe, expect, it } from "vitest";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { objectsOf, waybill } from "../fake-runtime.ts";
import { MemoryFiles } from "../memory-files.ts";

/** Made 2026-07-25T17:39:39.696Z. */
const V7 = "019f9a5c-7a30-7000-8000-000000000001";
const MADE = "2026-07-25T17:39:39.696Z";

const check = (...args: readonly string[]) => waybill(["id", "check", ...args]);

describe.concurrent("waybill id check", () => {
  it.each([
    { now: "2026-07-25T17:44:39.696Z", said: `fresh  uuid-v7  made ${MADE}, 300 s before the clock` },
    { now: "2026-07-25T17:38:39.696Z", said: `fresh  uuid-v7  made ${MADE}, 60 s after the clock` },
  ])("at $now says when a fresh ID was made", async ({ now, said }) => {
    expect(await check(V7, "--now", now)).toEqual({ stdout: `${V7}  ${said}\n`, stderr: "", code: 0 });
  });

  it.each([
    { now: "2026-07-25T17:44:39.697Z", reason: "too-old", error: "is too old: it was made at" },
    { now: "2026-07-25T17:38:39.695Z", reason: "too-new", error: "is too new: it was made at" },
  ])("at $now says what was expected", async ({ now, reason, error }) => {
    const { stdout, stderr, code } = await check(V7, "--now", now);
    expect({ stdout, code }).toEqual({ stdout: `${V7}  ${reason}  uuid-v7\n`, code: 1 });
    expect(stderr).toContain(`error: "${V7}" ${error} ${MADE}; expected is 2026-07-25T17:`);
    expect(stderr).toContain(`The gateway's clock reads ${now}.\n`);
  });

  it("judges each line of stdin, on the ring across its rollover", async () => {
    const [old, fresh, early] = ["fffa", "ffff", "0002"].map(
      (interval) => `${interval}c1d2-7a30-4005-8040-8f3b2a1c9d77`,
    );
    const args = ["--layout", "short-prefix-comb", "--now", "2026-12-11T13:52:00Z", "--json"];
    const { stdout, code } = await waybill(["id", "check", ...args], { stdin: `${old}\n${fresh}\n${early}\n` });
    expect(code).toBe(1);
    const expected = {
      from: "2026-12-11T13:47:00.000Z",
      to: "2026-12-11T13:53:00.000Z",
      fromInterval: "fffb",
      toInterval: "0001",
    };
    const stale = { reason: "stale-client-id", expected, gatewayTime: "2026-12-11T13:52:00.000Z" };
    expect(objectsOf(stdout)).toMatchObject([
      { text: old, fresh: false, error: { ...stale, why: "too-old", idInterval: "fffa" } },
      { text: fresh, fresh: true, mintedAt: "2026-12-11T13:51:00.000Z", ageMs: 60_000, expected },
      { text: early, fresh: false, error: { ...stale, why: "too-new", idInterval: "0002" } },
    ]);
  });

  it("counts the client's own clock, unless it is too far off", async () => {
    const late = ["--now", "2026-07-26T17:39:39Z", "--client-now", "2026-07-25T17:40:00Z"];
    expect(await check(V7, ...late)).toMatchObject({ code: 0 });
    const { stdout, stderr, code } = await check(V7, ...late, "--skew", "23h");
    expect({ stdout, code }).toEqual({ stdout: `${V7}  clock-too-far  uuid-v7\n`, code: 1 });
    expect(stderr).toContain("The client's clock is too far off: expected is 2026-07-25T18:39:39.000Z to ");
  });

  it.each([
    { args: ["x"], error: '"x" is not an ID of any layout with a time.', code: 1 },
    { args: ["\u001b[2J"], error: '"\\u{1b}[2J" is not an ID', code: 1 },
    { args: ["019f9a5c-7a30-4000-8000-000000000001"], error: "can be read as", code: 1 },
    { args: [V7, "--layout", "iuid"], error: "is not a valid iuid: version is 7, but every iuid has 8.", code: 1 },
    { args: ["x", "--layout", "iuid"], error: '"x" is not a valid iuid: character 1 is not allowed there.', code: 1 },
    { args: [V7, "--layout", "uuid-v4"], error: "IDs of uuid-v4 contain no time" },
    { args: [V7, "--layout", "uuid-v77"], error: 'There is no layout "uuid-v77"; did you mean uuid-v7' },
    { args: ["70e06bf0-0000-7000-8000-000000000001"], error: "Only its time excludes", code: 1 },
    { args: ["x", "--layout", "short-suffix-comb", "--before", "46d"], error: "too small: --before and --after are" },
    { args: [V7, "--before", "5"], error: "Write a duration with its unit" },
    { args: [V7, "--before", "-5m"], error: "Write a duration with its unit" },
    { args: [V7, "--entity", "order"], error: "--entity needs --table." },
  ])("$args is an error", async ({ args, error, code: fault = 64 }) => {
    const { stdout, stderr, code } = await check(...args);
    expect({ stdout, code }).toEqual({ stdout: "", code: fault });
    expect(stderr).toContain(error);
  });
});

describe.concurrent("waybill id check with an entity of a table", () => {
  const ORDER = "019f9a5c-7a30-8005-8040-000000000001";
  const { order, ...others } = DECLARED_TABLE.entities;
  const tableWith = (create: object | undefined) => ({
    ...DECLARED_TABLE,
    entities: { ...others, order: create === undefined ? order : { ...order, create } },
  });
  const KEY = { key: { country: { header: "x-country" } } };
  const TOLERANCE = { header: "x-id", beforeSeconds: 5, afterSeconds: 2 };
  const checkWith = (create: object | undefined, ...args: readonly string[]) => {
    const files = MemoryFiles.of({ "table.json": JSON.stringify(tableWith(create)) });
    return waybill(["id", "check", "--table", "table.json", ...args], { files });
  };

  it("takes its layout and its tolerance", async () => {
    const create = { ...KEY, clientId: TOLERANCE };
    const given = ["--entity", "order", ORDER, "--now"];
    expect(await checkWith(create, ...given, "2026-07-25T17:39:44.696Z")).toMatchObject({ code: 0, stderr: "" });
    expect(await checkWith(create, ...given, "2026-07-25T17:39:44.697Z")).toMatchObject({ code: 1 });
    expect(await checkWith(create, ...given, "2026-07-25T17:39:44.697Z", "--before", "6s")).toMatchObject({ code: 0 });
  });

  it("takes the limit of the client's clock", async () => {
    const create = { ...KEY, clientId: { ...TOLERANCE, clock: { header: "x-clock", skewSeconds: 60 } } };
    const given = ["--entity", "order", ORDER, "--client-now", MADE, "--now"];
    expect(await checkWith(create, ...given, "2026-07-25T17:40:39.696Z")).toMatchObject({ code: 0, stderr: "" });
    const { stdout, code } = await checkWith(create, ...given, "2026-07-25T17:40:39.697Z");
    expect({ stdout, code }).toEqual({ stdout: `${ORDER}  clock-too-far  iuid\n`, code: 1 });
  });

  it.each([
    { create: undefined, args: ["--entity", "order"], error: 'Clients make no IDs of "order"' },
    { create: KEY, args: ["--entity", "order"], error: 'Clients make no IDs of "order"' },
    {
      create: undefined,
      args: ["--entity", "ordr"],
      error: 'The routing table has no entity "ordr"; did you mean order?',
    },
    {
      create: { ...KEY, clientId: TOLERANCE },
      args: ["--entity", "order", "--client-now", MADE],
      error: 'The clock of a client never counts for "order"',
    },
  ])("$args is an error of $create", async ({ create, args, error }) => {
    const { stdout, stderr, code } = await checkWith(create, ...args, ORDER);
    expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
    expect(stderr).toContain(error);
  });
});
