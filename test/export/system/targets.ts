import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TABLE_FILE } from "../../../src/demo/table.ts";
import { ALPHABET_TABLE } from "../alphabet-table.ts";
import { type Beside, compare, startBeside } from "../compare.ts";
import richTable from "../rich-table.json" with { type: "json" };
import { describeEngines } from "./describe-engines.ts";

const TABLES = { demo: JSON.parse(readFileSync(TABLE_FILE, "utf8")), rich: richTable, alphabets: ALPHABET_TABLE };

/** Each engine answers so many targets, good, odd and hostile, as the gateway does. */
export function describeTargets(count: number, seed: number): void {
  describeEngines(
    (engine) => engine,
    (engine) => {
      describe.each(["demo", "rich", "alphabets"] as const)("with the %s table", (name) => {
        let beside: Beside;
        beforeAll(async () => {
          beside = await startBeside(engine, TABLES[name]);
        });
        afterAll(() => beside?.stop());

        it("answers as the gateway does, for good, odd and hostile targets", async () => {
          const { differences, forwarded, alone } = await compare(engine, beside, count, seed);
          expect(differences).toEqual([]);
          // It would be easy to answer as the gateway does by asking it about everything.
          expect(alone).toBeGreaterThan(forwarded * 0.3);
        });
      });
    },
  );
}
