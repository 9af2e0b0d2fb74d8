import { expect, it } from "vitest";
import * as hostParts from "../../src/host/parts.ts";
import * as packageParts from "../../src/package/parts.ts";

it("takes the product's files from a package by the same names and types as from a checkout", () => {
  const packaged: typeof hostParts = packageParts;
  const fromCheckout: typeof packageParts = hostParts;
  expect(Object.keys(packaged).toSorted()).toEqual(Object.keys(fromCheckout).toSorted());
});
