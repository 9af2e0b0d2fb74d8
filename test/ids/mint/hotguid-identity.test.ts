import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compileLayout,
  hotguid,
  hotguidIdentity,
  hotguidSql,
  iuid,
  type Layout,
  luuid,
  type Row,
  toSql,
  uuidText,
} from "../../../src/ids/index.ts";
import { runs } from "../../setup/property-runs.ts";
import { anyWords } from "../arbitraries.ts";
import { scripted, seeded } from "./scripted-entropy.ts";

const layoutOf = (name: string, rows: readonly Row[]): Layout => {
  const layout = compileLayout({ name, title: name, source: "this test", text: uuidText, rows });
  if (!layout.ok) throw new Error(JSON.stringify(layout.error));
  return layout.value;
};

/** The UUID versions of RFC 9562. */
const versions = [1, 2, 3, 4, 5, 6, 7, 8].map((version) =>
  layoutOf(`v${version}`, [
    { field: "high", bits: 48, role: "random" },
    { field: "version", bits: 4, role: "fixed", value: version },
    { field: "middle", bits: 12, role: "random" },
    { field: "variant", bits: 2, role: "fixed", value: 2 },
    { field: "low", bits: 62, role: "random" },
  ]),
);

/** A version 7 with variant bit 0, like DistributedId128. */
const variant0 = layoutOf("variant0", [
  { field: "high", bits: 48, role: "random" },
  { field: "version", bits: 4, role: "fixed", value: 7 },
  { field: "middle", bits: 12, role: "random" },
  { field: "variant", bits: 1, role: "fixed", value: 0 },
  { field: "low", bits: 63, role: "random" },
]);

const rivals = [iuid, luuid, ...versions, variant0];

test("no ID of the identity can be read as a rival, in either form, whatever its other bits", () => {
  fc.assert(
    fc.property(fc.integer(), fc.subarray(rivals), anyWords(), (seed, avoid, words) => {
      const identity = hotguidIdentity(seeded(seed), avoid);
      if (!identity.ok) throw new Error(JSON.stringify(identity.error));
      const values = { ...hotguid.decode(words), ...identity.value };
      const id = hotguid.encode(values);
      if (!id.ok) throw new Error(JSON.stringify(id.error));
      expect(avoid.filter(({ fits }) => fits(id.value) || fits(toSql(id.value)))).toEqual([]);
    }),
    { numRuns: runs(500) },
  );
});

test("every process number is accepted or rejected correctly for iUID and LUUID", () => {
  const wrong: number[] = [];
  for (let process = 0; process < 0x10000; process++) {
    // The second attempt is used only if the first is rejected: 0xffff clashes with neither layout in either form.
    const identity = hotguidIdentity(scripted(0, process, 0, 0xffff), [iuid, luuid]);
    const high = process >>> 8;
    const low = process & 0xff;
    const asText = (high === 0x80 && low >>> 6 === 2) || (high >>> 4 === 6 && low >>> 4 === 10);
    const asSql = high >>> 6 === 2;
    if (!identity.ok || (identity.value.process === process) === (asText || asSql)) wrong.push(process);
  }
  expect(wrong).toEqual([]);
});

test("layouts that nothing marks are no rivals", () => {
  expect(hotguidIdentity(scripted(0xaabbccdd, 0x12345678), [hotguid, hotguidSql])).toEqual({
    ok: true,
    value: { machine: 0xbbccdd, process: 0x5678 },
  });
});

describe("a layout whose fixed bits are all elsewhere", () => {
  const leadingZeros = layoutOf("leading-zeros", [
    { field: "zero", bits: 35, role: "fixed", value: 0 },
    { field: "rest", bits: 93, role: "random" },
  ]);

  test("cannot be avoided in the form where no identity bit meets them", () => {
    expect(hotguidIdentity(seeded(1), [iuid, leadingZeros])).toEqual({
      ok: false,
      error: { reason: "no-identity", form: "hotguid-sql", layout: "leading-zeros" },
    });
  });

  test("can be avoided where only the other form is in use", () => {
    const identity = hotguidIdentity(seeded(1), [iuid, leadingZeros], [hotguid]);
    expect(identity.ok && (identity.value.machine >>> 8) & 0xe0).not.toBe(0);
  });
});
