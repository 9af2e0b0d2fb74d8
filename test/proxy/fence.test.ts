import { describe, expect, it } from "vitest";
import { rejectFenced } from "../../src/proxy/deliver.ts";
import type { DeclaredTable } from "../../src/routing/index.ts";
import { ORDER, order, proxyRequest, tableWith } from "./passages.ts";

const decide = (override: Pick<DeclaredTable, "moved" | "moves">) =>
  proxyRequest(tableWith({}, {}, override), order()).decision;
const moving = (state: "started" | "fenced") =>
  decide({ moves: { [ORDER]: { from: "eu", to: "us", state, epoch: 2 } } });

describe("the fence", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE", "PROPFIND", "get"])("refuses %s while an entity is fenced", (method) => {
    expect(rejectFenced(moving("fenced"), method, false)).toEqual({ reason: "entity-moving", retryAfterMs: 2000 });
  });

  it.each(["GET", "HEAD", "OPTIONS"])("lets %s through, to where the entity is", (method) => {
    expect(rejectFenced(moving("fenced"), method, false)).toBeUndefined();
    expect(moving("fenced").target.region.name).toBe("eu");
  });

  it("refuses an upgrade, which would let writes through", () => {
    expect(rejectFenced(moving("fenced"), "GET", true)).toMatchObject({ reason: "entity-moving" });
  });

  it.each([
    ["before it is fenced", moving("started")],
    ["after it has arrived", decide({ moved: { [ORDER]: { region: "us", epoch: 3 } } })],
    ["without an epoch", decide({ moved: { [ORDER]: "us" } })],
    ["without a move", decide({})],
  ])("lets everything through %s", (_, decision) => {
    expect(rejectFenced(decision, "POST", false)).toBeUndefined();
    expect(rejectFenced(decision, "GET", true)).toBeUndefined();
  });
});
