import { expect, it } from "vitest";
import { IDS, problemOf } from "../harness.ts";
import { MESH_TABLE, type MeshOptions, type NAMES, setUpMesh } from "./mesh.ts";

/** Gateways whose tables differ while one is published. */

const PATH = `/orders/${IDS.orderBr}`;

const withMove = (table: object) => ({ ...MESH_TABLE, ...table });
const MOVED = withMove({ moved: { [IDS.orderBr]: { region: "ap", epoch: 4 } } });
const FENCED = withMove({ moves: { [IDS.orderBr]: { from: "us", to: "ap", state: "fenced", epoch: 3 } } });
const ABORTED = withMove({ moved: { [IDS.orderBr]: { region: "us", epoch: 5 } } });
const GONE = withMove({ gone: { [IDS.orderBr]: { epoch: 6 } } });

const newAt = (declared: object, ...names: readonly (typeof NAMES)[number][]): MeshOptions => ({
  own: Object.fromEntries(names.map((name) => [name, { declared }])),
});

it("an entity that has moved by the other gateway's table is followed there, with the new epoch", async () => {
  const { gateways, seen, hops } = setUpMesh(newAt(MOVED, "us", "ap"));
  const response = await gateways.eu.request(PATH);
  expect([response.status, response.headers.get("waybill-region"), await response.text()]).toEqual([
    200,
    "ap",
    expect.stringMatching(/^from ap/),
  ]);
  expect(hops.map(({ to }) => to)).toEqual(["us", "ap"]);
  expect(seen.map(({ by, headers }) => [by, headers.get("waybill-region"), headers.get("waybill-epoch")])).toEqual([
    ["ap", "ap", "4"],
  ]);
});

it("it may have moved to a region of the first gateway's own", async () => {
  const moved = withMove({ moved: { [IDS.orderBr]: { region: "eu", epoch: 4 } } });
  const { gateways, seen } = setUpMesh(newAt(moved, "us", "ap"));
  const response = await gateways.eu.request(PATH, { method: "DELETE" });
  expect(response.headers.get("waybill-region")).toBe("eu");
  expect(seen.map(({ by, method, headers }) => [by, method, headers.get("waybill-epoch")])).toEqual([
    ["eu", "DELETE", "4"],
  ]);
});

it("a move that was aborted goes on where it was, with the new epoch", async () => {
  const { gateways, seen } = setUpMesh({ ...newAt(ABORTED, "us"), declared: FENCED });
  const response = await gateways.eu.request(PATH);
  expect([response.status, response.headers.get("waybill-region")]).toEqual([200, "us"]);
  expect(seen.map(({ headers }) => headers.get("waybill-epoch"))).toEqual(["5"]);
});

it("a fence that only the other gateway knows holds writes, and lets reads pass", async () => {
  const { gateways, seen } = setUpMesh(newAt(FENCED, "us"));
  const write = await gateways.eu.request(PATH, { method: "DELETE" });
  expect(await problemOf(write)).toMatchObject({ type: "/-/problems/entity-moving", status: 503 });
  expect(seen).toEqual([]);
  const read = await gateways.eu.request(PATH);
  expect([read.status, seen.map(({ headers }) => headers.get("waybill-epoch"))]).toEqual([200, ["3"]]);
});

it("a body that streamed is not sent again: the client is told", async () => {
  const { gateways, seen } = setUpMesh(newAt(MOVED, "us", "ap"));
  const response = await gateways.eu.request(PATH, { method: "PUT", body: "text" });
  expect(await problemOf(response)).toMatchObject({ type: "/-/problems/body-too-large-to-replay", status: 503 });
  expect(seen).toEqual([]);
});

it("a body that is kept is sent again", async () => {
  const order = { ...MESH_TABLE.entities.order, replayBytesMax: 100 };
  const keeping = (table: object) => ({ ...table, entities: { ...MESH_TABLE.entities, order } });
  const { gateways, seen } = setUpMesh({ ...newAt(keeping(MOVED), "us", "ap"), declared: keeping(MESH_TABLE) });
  const init = { method: "PUT", body: "text", headers: { "content-length": "4" } };
  const response = await gateways.eu.request(PATH, init);
  expect([response.status, seen.map(({ by, body }) => [by, body])]).toEqual([200, [["ap", "text"]]]);
});

it("an entity that is gone by the other gateway's table: the client shall try again", async () => {
  const { gateways, seen } = setUpMesh(newAt(GONE, "us"));
  const response = await gateways.eu.request(PATH);
  expect(await problemOf(response)).toMatchObject({ type: "/-/problems/peers-disagree", status: 503 });
  expect(seen).toEqual([]);
});

it("two gateways that name each other are asked once each", async () => {
  const here = withMove({ moved: { [IDS.orderBr]: { region: "us", epoch: 9 } } });
  const { gateways, hops, seen } = setUpMesh({ own: { us: { declared: MOVED }, ap: { declared: here } } });
  const response = await gateways.eu.request(PATH);
  expect(await problemOf(response)).toMatchObject({ type: "/-/problems/peers-disagree", status: 503 });
  expect([hops.map(({ to }) => to), seen]).toEqual([["us", "ap"], []]);
});

it("an older table of the other gateway does not matter", async () => {
  const { gateways, seen } = setUpMesh({ declared: MOVED, own: { ap: { declared: MESH_TABLE } } });
  const response = await gateways.eu.request(PATH);
  expect([response.status, seen.map(({ by, headers }) => [by, headers.get("waybill-epoch")])]).toEqual([
    200,
    [["ap", "4"]],
  ]);
});

it("an origin's word goes through the gateway, and is followed by the first one: to the newest place at last", async () => {
  // The entity moved from us to ap, and only ap's gateway has the table that says so.
  const { gateways, seen } = setUpMesh({
    ...newAt(MOVED, "ap"),
    origin: (request) =>
      request.url.includes("//us.")
        ? new Response("gone", { status: 421, headers: { "waybill-region": "ap" } })
        : new Response("here"),
  });
  const response = await gateways.eu.request(PATH);
  expect([response.status, await response.text(), response.headers.get("waybill-region")]).toEqual([200, "here", "ap"]);
  expect(seen.map(({ by, headers }) => [by, headers.get("waybill-epoch")])).toEqual([
    ["us", null],
    ["ap", "4"],
  ]);
});
