import { expect, test } from "vitest";
import { mixWords, type Words } from "../../../src/ids/index.ts";
import { processorMs } from "../../setup/processor-ms.ts";
import { load, sampleTable } from "../tables.ts";

/** A step of `mixWords` backwards, for 32-bit words: what the hash was before a word, if it is `hash` after it. */
const unmix = (hash: number): number => {
  const unshift = (value: number, by: number): number => {
    let found = value;
    for (let known = by; known < 32; known += by) found = value ^ (found >>> by);
    return found;
  };
  return Math.imul(unshift(Math.imul(unshift(hash, 16), 0x7ed1b41d), 13), 0xa5cb9243);
};

/** So many moved HotGuids whose words have one and the same hash. */
const colliding = (count: number): readonly Words[] =>
  Array.from({ length: count }, (_, at) => {
    const head = [0x63_47_eb_00, Math.imul(at, 0x9e3779b1) >>> 0, at];
    return [...head, (mixWords(head) ^ unmix(0)) >>> 0];
  });

const textOf = (words: Words): string =>
  words
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

test("a table with as many moved IDs as may be, all of one hash, loads and answers at once", () => {
  const all = colliding(100_000);
  expect(new Set(all.map(mixWords))).toEqual(new Set([0]));
  const moved = Object.fromEntries(all.map((words) => [textOf(words), "us"]));
  const started = processorMs();
  const table = load({ ...sampleTable(), moved });
  const loadedMs = processorMs() - started;
  const overrides = table.layouts.get("hotguid")?.overrides;
  const asked = processorMs();
  for (const words of all) expect(table.moved.targets[overrides?.get(words) ?? -1]?.region?.name).toBe("us");
  expect(loadedMs).toBeLessThan(10_000);
  expect(processorMs() - asked).toBeLessThan(5_000);
}, 60_000);
