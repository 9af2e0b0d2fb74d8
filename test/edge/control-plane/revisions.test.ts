import { describe, expect, it } from "vitest";
import { validations } from "../../../src/control-plane/revisions.ts";
import { loadTableBytes } from "../../../src/edge/table/compile-text.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

function counted() {
  let loads = 0;
  const faultsOf = validations((bytes, revision) => {
    loads += 1;
    return loadTableBytes(bytes, revision);
  });
  return { faultsOf, loads: () => loads };
}

describe("verdicts about texts", () => {
  it("are found once for a text without fault, whatever is done with it: a canary, its promotion, a way back", () => {
    const { faultsOf, loads } = counted();
    const bytes = bytesOf(DECLARED_TABLE);
    for (let time = 0; time < 3; time++) expect(faultsOf("a", bytes)).toEqual([]);
    expect(loads()).toBe(1);
    expect(faultsOf("b", bytes)).toEqual([]);
    expect(loads()).toBe(2);
  });

  it("are the same faults each time", () => {
    const { faultsOf } = counted();
    const faulty = bytesOf({ ...DECLARED_TABLE, routes: [{ when: { entity: "nobody" }, region: "eu" }] });
    const first = faultsOf("c", faulty);
    expect(first).toMatchObject([{ kind: "unknown-name", pointer: "/routes/0/when/entity" }]);
    expect(faultsOf("c", faulty)).toEqual(first);
  });

  it("are kept of the last texts alone", () => {
    const { faultsOf, loads } = counted();
    const bytes = bytesOf(DECLARED_TABLE);
    for (let number = 0; number < 17; number++) faultsOf(`digest ${number}`, bytes);
    faultsOf("digest 1", bytes);
    expect(loads()).toBe(17);
    faultsOf("digest 0", bytes);
    expect(loads()).toBe(18);
  });
});
