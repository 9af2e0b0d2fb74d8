import { expect, it } from "vitest";
import { ask, type BucketAccess, type BucketCall } from "./client.ts";

/** Rules that workerd's cluster needs of a store. The stand-in keeps them, and a real store is held against the same. */
export function describeContract(access: () => BucketAccess | undefined): void {
  const rule = (
    title: string,
    check: (call: (call: BucketCall) => Promise<Response>, folder: string) => Promise<void>,
  ) =>
    it(title, async ({ skip }) => {
      const store = access();
      if (store === undefined) return skip("the store cannot be had here");
      rules += 1;
      await check((call) => ask(store, call), `contract/${rules}`);
    });
  let rules = 0;

  rule("reads what was written, and a deleted object is gone", async (call, folder) => {
    const key = `${folder}/käse & <brot>+%2F`;
    expect((await call({ method: "GET", key })).status).toBe(404);
    const put = await call({ method: "PUT", key, body: "one" });
    expect(put.status).toBe(200);
    const got = await call({ method: "GET", key });
    expect([got.status, await got.text(), got.headers.get("etag")]).toEqual([200, "one", put.headers.get("etag")]);
    const head = await call({ method: "HEAD", key });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "3"]);
    expect((await call({ method: "DELETE", key })).status).toBe(204);
    expect((await call({ method: "GET", key })).status).toBe(404);
    expect((await call({ method: "DELETE", key })).status).toBe(204);
  });

  rule("if-none-match: * writes only where nothing is", async (call, folder) => {
    const key = `${folder}/a`;
    const headers = { "if-none-match": "*" };
    expect((await call({ method: "PUT", key, headers, body: "1" })).status).toBe(200);
    expect((await call({ method: "PUT", key, headers, body: "2" })).status).toBe(412);
    expect(await (await call({ method: "GET", key })).text()).toBe("1");
    await call({ method: "DELETE", key });
    expect((await call({ method: "PUT", key, headers, body: "3" })).status).toBe(200);
  });

  rule("if-match writes only over that ETag, and not where nothing is", async (call, folder) => {
    const key = `${folder}/a`;
    const first = (await call({ method: "PUT", key, body: "1" })).headers.get("etag") ?? "";
    const over = (etag: string, body: string) => call({ method: "PUT", key, headers: { "if-match": etag }, body });
    const second = await over(first, "2");
    expect(second.status).toBe(200);
    expect(second.headers.get("etag")).not.toBe(first);
    expect((await over(first, "3")).status).toBe(412);
    expect(await (await call({ method: "GET", key })).text()).toBe("2");
    await call({ method: "DELETE", key });
    // S3 says 404, Ceph 16 says 412.
    expect([404, 412]).toContain((await over(second.headers.get("etag") ?? "", "4")).status);
    expect((await call({ method: "GET", key })).status).toBe(404);
  });

  rule("of many writers at once one wins, each round", async (call, folder) => {
    const key = `${folder}/a`;
    const race = async (headers: Readonly<Record<string, string>>, round: number) => {
      const writers = Array.from({ length: 8 }, (_, at) =>
        call({ method: "PUT", key, headers, body: `${round}-${at}` }),
      );
      const won = (await Promise.all(writers)).filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      return won[0]?.headers.get("etag") ?? "";
    };
    let etag = await race({ "if-none-match": "*" }, 0);
    for (let round = 1; round <= 5; round++) etag = await race({ "if-match": etag }, round);
  });

  rule("a list comes in pages, in order, with common prefixes", async (call, folder) => {
    const names = ["a/1", "a/2", "b", "c/1", "c/2", "d", "e"];
    for (const name of names) await call({ method: "PUT", key: `${folder}/${name}`, body: name });
    const all = await listed(call, { prefix: `${folder}/`, "max-keys": "2" });
    expect(all).toEqual({ keys: names.map((name) => `${folder}/${name}`), prefixes: [], pages: 4 });
    const top = await listed(call, { prefix: `${folder}/`, delimiter: "/", "max-keys": "2" });
    expect(top.keys).toEqual(["b", "d", "e"].map((name) => `${folder}/${name}`));
    expect(top.prefixes).toEqual([`${folder}/a/`, `${folder}/c/`]);
    expect(await listed(call, { prefix: `${folder}/none` })).toEqual({ keys: [], prefixes: [], pages: 1 });
    const after = await listed(call, { prefix: `${folder}/`, "start-after": `${folder}/c/1` });
    expect(after.keys).toEqual(["c/2", "d", "e"].map((name) => `${folder}/${name}`));
  });

  rule("a range is a part of the bytes", async (call, folder) => {
    const key = `${folder}/a`;
    await call({ method: "PUT", key, body: "0123456789" });
    for (const [range, status, text, field] of RANGES) {
      const got = await call({ method: "GET", key, headers: { range } });
      expect([range, got.status, got.headers.get("content-range")]).toEqual([range, status, field]);
      if (status === 206) expect(await got.text()).toBe(text);
    }
  });

  rule("each answer has the store's clock", async (call, folder) => {
    const { headers } = await call({ method: "GET", key: `${folder}/none` });
    expect(Math.abs(Date.parse(headers.get("date") ?? "") - Date.now())).toBeLessThan(30_000);
  });
}

const RANGES = [
  ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
  ["bytes=4-", 206, "456789", "bytes 4-9/10"],
  ["bytes=8-99", 206, "89", "bytes 8-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
] as const;

async function listed(call: (call: BucketCall) => Promise<Response>, query: Readonly<Record<string, string>>) {
  const found = { keys: [] as string[], prefixes: [] as string[], pages: 0 };
  let token: string | undefined;
  do {
    const asked = { "list-type": "2", ...query, ...(token === undefined ? {} : { "continuation-token": token }) };
    const response = await call({ method: "GET", query: asked });
    expect(response.status).toBe(200);
    const text = await response.text();
    found.keys.push(...Array.from(text.matchAll(/<Contents>.*?<Key>([^<]*)<\/Key>/gs), ([, key = ""]) => key));
    found.prefixes.push(...Array.from(text.matchAll(/<CommonPrefixes><Prefix>([^<]*)</g), ([, key = ""]) => key));
    found.pages += 1;
    token = /<NextContinuationToken>([^<]*)</.exec(text)?.[1];
  } while (token !== undefined);
  return found;
}
