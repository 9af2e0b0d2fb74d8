import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/edge/env.ts";
import { formSeal } from "../../../src/edge/table/form-seal.ts";
import { IsolateTable } from "../../../src/edge/table/isolate-table.ts";
import { type LoadFailure, sha256 } from "../../../src/edge/table/kv.ts";
import { bodyKey, formKey, POINTER_KEY } from "../../../src/formats/kv.ts";
import { storeTable } from "../../../src/routing/compile/store.ts";
import type { DeclaredTable } from "../../../src/routing/schema/table.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const { TABLE_KV } = env as Env;

const sealWith = (version: string, first: number) => {
  const made = formSeal(version, [{ id: "a", key: new Uint8Array(32).fill(first) }], crypto.subtle);
  if (made === undefined) throw new Error("no seal");
  return made;
};
const seal = sealWith("v1", 1);

const GOOD = { ...DECLARED_TABLE, countries: { ...DECLARED_TABLE.countries, FR: 77 } } as unknown as DeclaredTable;

/** The check refuses it, since its last route is never reached; the compiler does not mind. */
const FAULTY = {
  ...GOOD,
  routes: [
    { when: {}, region: "eu" },
    { when: { layout: "iuid" }, region: "us" },
  ],
} as DeclaredTable;

async function publish(declared: unknown, revision = 1): Promise<string> {
  const text = JSON.stringify(declared);
  const digest = await sha256(new TextEncoder().encode(text));
  await TABLE_KV.put(bodyKey(digest), text);
  await TABLE_KV.put(POINTER_KEY, JSON.stringify({ revision, digest }));
  return digest;
}

function setUp(used: typeof seal | "none" = seal, hangsAt?: (key: string) => boolean) {
  const reads: string[] = [];
  const requested: string[] = [];
  const failures: LoadFailure[] = [];
  const background: Promise<unknown>[] = [];
  const kv = new Proxy(TABLE_KV, {
    get(target, name) {
      if (name !== "get") return Reflect.get(target, name);
      return (...values: Parameters<KVNamespace["get"]>) => {
        const [key] = values;
        reads.push(String(key).replace(/[0-9a-f]{64}/, "<digest>"));
        return hangsAt?.(String(key)) ? new Promise(() => undefined) : Reflect.apply(target.get, target, values);
      };
    },
  });
  const tables = new IsolateTable({
    kv,
    cache: undefined,
    namespace: "one",
    bundled: DECLARED_TABLE,
    seal: used === "none" ? undefined : used,
    clock: { nowMs: () => 1_000_000 },
    entropy: { word: () => 2 ** 31 },
    refreshMs: 30_000,
    report: (failure) => failures.push(failure),
    waitUntil: (work) => background.push(work),
    requestForm: async (digest) => void requested.push(digest),
  });
  const load = async () => {
    const served = await tables.load();
    await Promise.all(background.splice(0));
    return served.ok ? served.value : undefined;
  };
  return { reads, requested, failures, tables, load };
}

beforeEach(() => reset());

const POINTER = "table.current";
const FORM = "table.<digest>.v1";
const BODY = "table.<digest>";

describe("a table that the control plane vouches for", () => {
  it("is restored from its form, and its text is not read", async () => {
    const digest = await publish(GOOD, 41);
    await TABLE_KV.put(formKey(digest, "v1"), await seal.seal(digest, storeTable(GOOD)));
    await TABLE_KV.put(bodyKey(digest), "damaged");
    const { load, reads, requested, failures } = setUp();
    const served = await load();
    expect(served?.label).toBe("rev=41; source=kv; age=0");
    expect(served?.table.countries).toEqual(new Map(Object.entries(GOOD.countries ?? {})));
    expect({ reads, requested, failures }).toEqual({ reads: [POINTER, FORM], requested: [], failures: [] });
  });

  it("is compiled without a check where the form is too large to be stored", async () => {
    const digest = await publish(FAULTY);
    await TABLE_KV.put(formKey(digest, "v1"), await seal.seal(digest, undefined));
    const { load, reads, requested } = setUp();
    expect((await load())?.table.routeCount).toBe(2);
    expect({ reads, requested }).toEqual({ reads: [POINTER, FORM, BODY], requested: [] });
  });

  it("is compiled without a check where the form does not fit, and that is reported", async () => {
    const digest = await publish(FAULTY);
    const form = { ...storeTable(FAULTY), numbers: new Uint8Array(3) };
    await TABLE_KV.put(formKey(digest, "v1"), await seal.seal(digest, form));
    const { load, failures } = setUp();
    expect((await load())?.table.routeCount).toBe(2);
    expect(failures).toEqual([{ reason: "form-refused", digest, version: "v1", why: "it does not fit" }]);
  });
});

const WORTHLESS: Record<string, (digest: string, form: ReturnType<typeof storeTable>) => Promise<unknown>> = {
  "no voucher": async () => undefined,
  "one of another version": async (digest, form) =>
    TABLE_KV.put(formKey(digest, "v0"), await sealWith("v0", 1).seal(digest, form)),
  "one of another version under the key of this one": async (digest, form) =>
    TABLE_KV.put(formKey(digest, "v1"), await sealWith("v0", 1).seal(digest, form)),
  "one by another key": async (digest, form) =>
    TABLE_KV.put(formKey(digest, "v1"), await sealWith("v1", 2).seal(digest, form)),
  "one without a signature": async (digest, form) =>
    TABLE_KV.put(formKey(digest, "v1"), new Uint8Array([...new Uint8Array(32), ...form.numbers])),
  "one of another table": async (digest, form) =>
    TABLE_KV.put(formKey(digest, "v1"), await seal.seal("0".repeat(64), form)),
  "a damaged one": async (digest, form) => {
    const value = new Uint8Array(await seal.seal(digest, form));
    value[value.length - 1] = (value.at(-1) as number) ^ 1;
    return TABLE_KV.put(formKey(digest, "v1"), value);
  },
  "an empty one": async (digest) => TABLE_KV.put(formKey(digest, "v1"), ""),
};

describe.each(Object.entries(WORTHLESS))("with %s", (name, put) => {
  const isSilent = ["no voucher", "one of another version"].includes(name);

  it("a good table is checked and served, and its form is asked for once", async () => {
    const digest = await publish(GOOD);
    await put(digest, storeTable(GOOD));
    const { load, requested, failures } = setUp();
    expect((await load())?.label).toBe("rev=1; source=kv; age=0");
    expect((await load())?.label).toBe("rev=1; source=kv; age=0");
    expect(requested).toEqual([digest]);
    expect(failures.map(({ reason }) => reason)).toEqual(isSilent ? [] : ["form-refused"]);
  });

  it("a faulty table is refused, and the last resort is served", async () => {
    const digest = await publish(FAULTY);
    await put(digest, storeTable(FAULTY));
    const { load, requested, failures } = setUp();
    expect((await load())?.source).toBe("bundled");
    expect(requested).toEqual([]);
    expect(failures.map(({ reason }) => reason)).toContain("table-invalid");
  });
});

it("a gateway without a key asks for no voucher, and checks", async () => {
  const digest = await publish(FAULTY);
  await TABLE_KV.put(formKey(digest, "v1"), await seal.seal(digest, storeTable(FAULTY)));
  const { load, reads } = setUp("none");
  expect((await load())?.source).toBe("bundled");
  expect(reads).toEqual([POINTER, BODY]);
});

it("a voucher that cannot be read holds up nobody", async () => {
  const digest = await publish(GOOD);
  const { tables } = setUp(seal, (key) => key === formKey(digest, "v1"));
  expect(await tables.load()).toMatchObject({ ok: true, value: { source: "kv" } });
});
