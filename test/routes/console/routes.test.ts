import { describe, expect, it } from "vitest";
import type { EventLog, RouteRevisions } from "../../../src/formats/console-api.ts";
import type { ChangeRequest } from "../../../src/ports/admin.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { setUpConsole, tokenOf } from "./world.ts";

const asViewer = { headers: { authorization: `Bearer ${tokenOf("viewer")}` } };

const route = (country: string, region: string) => ({ when: { country }, region });
const KZ = route("KZ", "ap");
const BR = route("BR", "us");
const DE = route("DE", "eu");

/** A control plane whose table is changed step by step. */
function setUpRoutes() {
  const texts: number[] = [];
  const first = setUpConsole();
  const { controlPlane } = first.gateway;
  const counted = {
    ...controlPlane,
    text: (revision?: number) => {
      if (revision !== undefined) texts.push(revision);
      return controlPlane.text(revision);
    },
  };
  const world = setUpConsole({ gateway: { controlPlane: counted } });
  const publish = async (routes: readonly object[], note = "") => {
    const status = await controlPlane.status();
    if (!status.ok) throw new Error(status.error.reason);
    const change: ChangeRequest = { expectedRevision: status.value.truth.revision, author: "ann", note };
    const text = JSON.stringify({ ...DECLARED_TABLE, moved: {}, routes }, null, 1);
    const made = await controlPlane.publish(change, new TextEncoder().encode(text));
    if (!made.ok) throw new Error(JSON.stringify(made.error));
    return made.value.revision;
  };
  const read = async (): Promise<RouteRevisions> => (await world.ask("/-/console/routes", asViewer)).json();
  const sinces = async () => (await read()).routes.map(({ since }) => [since.revision, since.isExact]);
  return { publish, read, sinces, texts, controlPlane };
}

describe("GET /-/console/routes", () => {
  it("says which revision wrote each route, whatever came before it since", async () => {
    const { publish, read, sinces } = setUpRoutes();
    const one = await publish([KZ], "Kazakhstan");
    const two = await publish([KZ, BR], "and Brazil");
    const three = await publish([DE, KZ, route("BR", "ap")], "Germany first, Brazil elsewhere");
    expect(await sinces()).toEqual([
      [three, true],
      [one, true],
      [three, true],
    ]);
    const { revision, routes } = await read();
    expect(revision).toBe(three);
    expect(routes[1]).toMatchObject({
      pointer: "/routes/1",
      since: { revision: one, author: "ann", note: "Kazakhstan", time: expect.stringMatching(/^20/), isExact: true },
    });
    expect(routes.map(({ line }) => line).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      routes.map(({ line }) => line),
    );
    // A route that was gone in between is new.
    const four = await publish([KZ, BR], "as it was");
    expect(await sinces()).toEqual([
      [one, true],
      [four, true],
    ]);
    expect(two).toBeLessThan(three);
  });

  it("goes back over the steps since it was asked last, and no further", async () => {
    const { publish, sinces, texts } = setUpRoutes();
    const one = await publish([KZ]);
    for (let at = 0; at < 5; at++) await publish([KZ, route("BR", at % 2 === 0 ? "us" : "eu")]);
    await sinces();
    const before = texts.length;
    expect(await sinces()).toHaveLength(2);
    // The same table again costs nothing.
    expect(texts.length).toBe(before);
    const last = await publish([KZ, BR, DE]);
    expect((await sinces()).map(([revision]) => revision)).toEqual([one, expect.any(Number), last]);
  });

  it("is not exact where the last hundred revisions do not say it", async () => {
    const { publish, sinces } = setUpRoutes();
    await publish([KZ]);
    for (let at = 0; at < 104; at++) await publish([KZ, { ...BR, region: at % 2 === 0 ? "us" : "eu" }]);
    const [kept, changed] = await sinces();
    expect([kept?.[1], changed?.[1]]).toEqual([false, true]);
  });
});

describe("GET /-/events/log", () => {
  const log = async (query: string, more: Parameters<typeof setUpConsole>[0] = {}) => {
    const response = await setUpConsole(more).ask(`/-/events/log${query}`, asViewer);
    return { status: response.status, body: (await response.json()) as EventLog };
  };

  it("has pages, and says which comes next", async () => {
    const { metrics } = setUpConsole().gateway;
    const event = (id: number) => ({
      id,
      time: "2026-11-23T00:00:00.000Z",
      kind: "region" as const,
      type: "region.down",
      words: "us is down.",
      evidence: {},
    });
    const asked: unknown[] = [];
    const gateway = {
      metrics: {
        ...metrics,
        events: async (query: { readonly limit: number }) => {
          asked.push(query);
          return { events: [event(7), event(6)].slice(0, query.limit), webhook: null };
        },
      },
    };
    expect((await log("?limit=2&before=8", { gateway })).body).toMatchObject({ source: "all", next: 6, webhook: null });
    expect((await log("", { gateway })).body).toMatchObject({
      source: "all",
      next: null,
      events: [{ id: 7 }, { id: 6 }],
    });
    expect(asked).toEqual([
      { before: 8, limit: 2 },
      { before: undefined, limit: 20 },
    ]);
    const unread = { metrics: { ...metrics, events: async () => undefined } };
    expect((await log("", { gateway: unread })).body).toEqual({
      source: "none",
      events: [],
      next: null,
      webhook: null,
    });
  });

  it.each(["?limit=0", "?limit=101", "?before=x", "?limit="])("refuses %s", async (query) => {
    expect((await log(query)).status).toBe(400);
  });
});
