import { expect, it } from "vitest";
import { countPackedKeys } from "../../../src/features/packs/table/diff.ts";
import type { PackRange } from "../../../src/features/packs/table/format.ts";
import type { PackRanges } from "../../../src/features/packs/table/pack.ts";
import { processorMs } from "../../setup/processor-ms.ts";

it("what packs hold of two million ranges is counted in seconds", async () => {
  const random = (shift: number) =>
    Array.from({ length: 1_000_000 }, (_, at) => ({
      from: at * 4_000 + shift,
      to: at * 4_000 + shift + 1_999,
      region: at % 2 === 0 ? "eu" : "us",
    }));
  const flat = (ranges: readonly PackRange[]): PackRanges => ({
    bounds: Uint32Array.from(ranges.flatMap(({ from, to }) => [from, to])),
    numbers: Uint8Array.from(ranges, ({ region }) => (region === "eu" ? 0 : 1)),
    regions: ["eu", "us"],
  });
  const before = flat(random(0));
  const after = flat(random(1_000));
  const startedMs = processorMs();
  const held = countPackedKeys([0, 2 ** 32 - 1], [before], [after]);
  expect(processorMs() - startedMs).toBeLessThan(20_000);
  expect(held.find((way) => way.before === "eu" && way.after === undefined)?.keys).toBe(500_000_000);
  expect(held.reduce((sum, { keys }) => sum + keys, 0)).toBe(2 ** 32);
});
