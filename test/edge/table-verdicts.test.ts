import { describe, expect, it } from "vitest";
import { loadTableOctets } from "../../src/edge/table-octets.ts";
import { TableVerdicts } from "../../src/edge/table-verdicts.ts";
import { DECLARED_TABLE } from "../fixtures/declared-table.ts";

const octetsOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

function counted() {
  let loads = 0;
  const verdicts = new TableVerdicts((octets, revision) => {
    loads += 1;
    return loadTableOctets(octets, revision);
  });
  return { verdicts, loads: () => loads };
}

describe("verdicts about texts", () => {
  it("are found once for a text without fault, whatever is done with it: a canary, its promotion, a way back", () => {
    const { verdicts, loads } = counted();
    const octets = octetsOf(DECLARED_TABLE);
    for (let time = 0; time < 3; time++) expect(verdicts.faultsOf("a", octets)).toEqual([]);
    expect(loads()).toBe(1);
    expect(verdicts.faultsOf("b", octets)).toEqual([]);
    expect(loads()).toBe(2);
  });

  it("are the same faults each time", () => {
    const { verdicts } = counted();
    const faulty = octetsOf({ ...DECLARED_TABLE, routes: [{ when: { entity: "nobody" }, region: "eu" }] });
    const first = verdicts.faultsOf("c", faulty);
    expect(first).toMatchObject([{ kind: "unknown-name", pointer: "/routes/0/when/entity" }]);
    expect(verdicts.faultsOf("c", faulty)).toEqual(first);
  });

  it("are kept of the last texts alone", () => {
    const { verdicts, loads } = counted();
    const octets = octetsOf(DECLARED_TABLE);
    for (let number = 0; number < 17; number++) verdicts.faultsOf(`digest ${number}`, octets);
    verdicts.faultsOf("digest 1", octets);
    expect(loads()).toBe(17);
    verdicts.faultsOf("digest 0", octets);
    expect(loads()).toBe(18);
  });
});
