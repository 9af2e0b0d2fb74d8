import { expect, test } from "vitest";
import type * as declaredObjects from "../../../src/package/types/objects.d.ts";
import type * as declaredWorker from "../../../src/package/types/worker.d.ts";
import * as worker from "../../../src/worker/index.ts";
import * as objects from "../../../src/worker/objects.ts";

/** The types of the package are written by hand: the compiler holds them against the sources. */

test("waybill/worker is what its types say", () => {
  const declared: Pick<typeof declaredWorker, keyof typeof worker> = worker;
  const named: Record<keyof typeof declaredWorker, unknown> = worker;
  expect(Object.keys(declared)).toEqual(Object.keys(named));
});

test("waybill/worker/objects is what its types say: all classes, and no others", () => {
  const declared: Pick<typeof declaredObjects, keyof typeof objects> = objects;
  const named: Record<keyof typeof declaredObjects, unknown> = objects;
  expect(Object.keys(declared)).toEqual(Object.keys(named));
});
