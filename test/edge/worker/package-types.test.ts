import { expect, it } from "vitest";
import type * as PublishedObjects from "../../../src/package/types/objects.d.ts";
import type * as Published from "../../../src/package/types/worker.d.ts";
import * as library from "../../../src/worker/index.ts";
import * as objects from "../../../src/worker/objects.ts";
import main, * as classes from "../../../src/worker.ts";

/** The types of `waybill/worker` and `waybill/worker/objects` are written by hand: the sources must fit them. */

const published: { [Name in keyof typeof Published]: (typeof Published)[Name] } = library;
const handler: Published.Gateway = main;
type Classes<Of> = { [Name in keyof Of]: new (context: DurableObjectState, env: never) => Rpc.DurableObjectBranded };
const ofSource: Classes<typeof PublishedObjects> = objects;
const ofPackage: Classes<typeof objects> = {} as typeof PublishedObjects;

it("the modules have what their types say, and nothing else", () => {
  expect(Object.keys(published)).toEqual(["gateway"]);
  expect(Object.keys(handler).toSorted()).toEqual(["fetch", "scheduled"]);
  const { default: _, ...exported } = classes;
  expect(Object.keys(ofSource).toSorted()).toEqual(Object.keys(exported).toSorted());
  expect(ofPackage).toEqual({});
});

it("a second table for one Worker is a mistake", () => {
  expect(() => library.gateway({ regions: {} })).toThrow("a Worker has one routing table");
  expect(() => library.gateway("{}")).toThrow("a Worker has one routing table");
});
