import { expect, it } from "vitest";
import { raceCacheAndKv } from "../../src/edge/platform.ts";
import { err, type Ok, ok, type Result } from "../../src/ids/result.ts";

type Near = Promise<Ok<string> | undefined>;

const NEVER = new Promise<never>(() => undefined);
const failed = async () => err("KV failed");

/** The far store: its answer, and how often it was asked. */
function far(answer: () => Promise<Result<string, string>>) {
  let asked = 0;
  const ask = () => {
    asked++;
    return answer();
  };
  return { ask, asked: () => asked };
}

it("what is near is taken, and the far is left alone", async () => {
  const { ask, asked } = far(failed);
  expect(await raceCacheAndKv(Promise.resolve(ok("near")), ask)).toEqual(ok("near"));
  expect(asked()).toBe(0);
});

it.each<[string, Near]>([
  ["has nothing", Promise.resolve(undefined)],
  ["never answers", NEVER],
])("the far is asked, once, where the near %s", async (_, near) => {
  const { ask, asked } = far(async () => ok("far"));
  expect(await raceCacheAndKv(near, ask)).toEqual(ok("far"));
  expect(asked()).toBe(1);
});

it("a near that is late is taken where the far fails, or never answers", async () => {
  for (const answer of [failed, () => NEVER]) {
    let arrive: (found: Ok<string>) => void = () => undefined;
    const late: Near = new Promise((give) => {
      arrive = give;
    });
    const { ask } = far(() => {
      setTimeout(() => arrive(ok("near")), 10);
      return answer();
    });
    expect(await raceCacheAndKv(late, ask)).toEqual(ok("near"));
  }
});

it.each<[string, (given: () => void) => void]>([
  ["before the far", (give) => give()],
  ["after the far", (give) => void setTimeout(give, 10)],
])("a late near that has nothing, %s, leaves the far's word: good or bad", async (_, when) => {
  for (const word of [ok("far"), err("KV failed")]) {
    let arrive: (found: undefined) => void = () => undefined;
    const late: Near = new Promise((give) => {
      arrive = give;
    });
    const { ask } = far(async () => {
      when(() => arrive(undefined));
      return word;
    });
    expect(await raceCacheAndKv(late, ask)).toEqual(word);
  }
});
