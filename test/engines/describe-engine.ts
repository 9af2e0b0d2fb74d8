import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Layout } from "../../src/ids/index.ts";
import { columnAdvice } from "../../src/ids/stores/advice.ts";
import { type StoreColumn, storeColumn } from "../../src/ids/stores/column.ts";
import type { EngineName } from "../../src/ids/stores/engine.ts";
import { rises, sortsByTime } from "../../src/ids/stores/order.ts";
import { equality, fill, misplaced, type Partitioning, partitionsOfPeriod, placesOfPeriod } from "./measure.ts";
import { MINTED, mintable, mintedIds, PERIOD, PLACES_OF_PERIOD } from "./minted.ts";
import type { Engine } from "./servers/engine.ts";

/** The model of stores, held against the engine. */

export interface EngineCase {
  readonly name: EngineName;
  /** `undefined`: the engine cannot be had here. */
  readonly open: () => Promise<Engine | undefined>;
  readonly partitions?: Partitioning;
  /** Types that are recommended for no layout, or for others, with what comes of some layouts in them: `right`, or a refusal. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const columnOf = (name: EngineName, layout: Layout, type?: string): StoreColumn => {
  const column = storeColumn(name, layout, { type });
  if (!column.ok) throw new Error(column.error.reason);
  return column.value;
};

export const describeEngine = (title: string, { name, open, partitions, types }: EngineCase): void => {
  describe(title, () => {
    let engine: Engine | undefined;
    beforeAll(async () => {
      engine = await open();
    }, 60_000);
    afterAll(() => engine?.close());

    it.for(mintable)(
      "$name in the recommended column: order, equality, a period",
      async (layout, { skip, annotate }) => {
        if (engine === undefined) return skip(`${title} cannot be had here`);
        const ids = mintedIds(layout);
        const column = columnOf(name, layout);
        await fill(engine, name, column, ids);
        const { order } = column;
        const wrong = await misplaced(engine);
        expect(wrong === 0).toBe(order !== undefined && rises(layout, order));
        expect(await equality(engine, column, ids)).toEqual({ self: MINTED, apart: MINTED });
        const places = await placesOfPeriod(engine, name, layout);
        if (order !== undefined && sortsByTime(layout, order)) expect(places).toEqual(PLACES_OF_PERIOD);
        else expect(places).toEqual(expect.any(String));
        if (partitions !== undefined) {
          const read = await partitionsOfPeriod(engine, partitions, name, layout);
          expect([undefined, ["p_period"]]).toContainEqual(read);
          expect(read === undefined).toBe(typeof places === "string" || !column.bound);
        }
        await annotate(`${engine.title}: ${column.type.type}, ${MINTED - wrong} of ${MINTED} in order`);
      },
    );

    it.for(Object.entries(types))(
      "%s is refused, or keeps every ID and finds the period",
      async ([type, expected], { skip }) => {
        if (engine === undefined) return skip(`${title} cannot be had here`);
        const seen: Record<string, string> = {};
        for (const layout of mintable) {
          const column = storeColumn(name, layout, { type });
          if (!column.ok) {
            seen[layout.name] = column.error.reason;
            continue;
          }
          const advice = columnAdvice(name, layout, "id", { type });
          if (advice.ok && (advice.value.exceedsFromMs ?? PERIOD.toMs) < PERIOD.toMs) {
            seen[layout.name] = "too-great";
            continue;
          }
          const ids = mintedIds(layout);
          await fill(engine, name, column.value, ids);
          expect([layout.name, await equality(engine, column.value, ids)]).toEqual([
            layout.name,
            { self: MINTED, apart: MINTED },
          ]);
          const places = await placesOfPeriod(engine, name, layout, type);
          if (typeof places === "string") seen[layout.name] = places;
          else expect([layout.name, places]).toEqual([layout.name, PLACES_OF_PERIOD]);
          seen[layout.name] ??= "right";
        }
        expect(seen).toMatchObject(expected);
      },
    );
  });
};
