import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CanarySelector } from "../../../src/routing/index.ts";
import { DECLARED_TABLE } from "../../fixtures/declared-table.ts";
import { runs } from "../../setup/property-runs.ts";
import { servedBeside, tablesOf } from "../beside.ts";
import { publicKeysOf, setUp } from "../harness.ts";

const publicKeys = publicKeysOf(JSON.stringify({ sealed: [{ id: "s", key: btoa("s".repeat(32)) }] }));

interface CanaryRequest {
  readonly region: string;
  readonly parcel?: string | readonly string[];
  readonly ticket?: string | readonly string[];
  readonly box?: string;
}

/** Parcels and tickets, to which `/any` redirects, perhaps boxes on paths like theirs, and all else in `ap`. */
const tableOf = ({ region, parcel = "/parcels/:id", ticket = "/tickets/:id", box }: CanaryRequest) => ({
  ...DECLARED_TABLE,
  entities: {
    parcel: { path: parcel, ids: [{ layout: "hotguid" }], any: "redirect" },
    ticket: { path: ticket, ids: [{ layout: "iuid", service: 7 }], public: true, any: "redirect" },
    ...(box === undefined ? {} : { box: { path: box, ids: [{ layout: "iuid", service: 8 }] } }),
  },
  routes: [{ when: {}, region }],
  withoutId: { rest: { path: "/**", sources: [{ region: "ap" }] } },
});

const beside = (stable: CanaryRequest, canary: CanaryRequest, audience: CanarySelector) =>
  setUp({ publicKeys, gateway: { tables: tablesOf(servedBeside(tableOf(stable), tableOf(canary), audience)) } });

type Gateway = Pick<ReturnType<typeof setUp>, "request">;

async function ask({ request }: Gateway, path: string) {
  const { status, headers } = await request(path, { headers: { "waybill-debug": "1" } });
  return {
    status,
    location: headers.get("location"),
    region: headers.get("waybill-region"),
    table: headers.get("waybill-table"),
  };
}

/** As their texts are in every one of these tables. */
async function mint(entity: string, count: number): Promise<readonly string[]> {
  const { request } = setUp({ publicKeys, declared: tableOf({ region: "eu" }) });
  const changeRequest = { entity, count, ...(entity === "ticket" ? { country: "KZ" } : { shardKey: 5 }) };
  const answer = await request("/mint", { method: "POST", body: JSON.stringify(changeRequest) });
  expect(answer.status).toBe(201);
  return (await answer.json<{ readonly ids: readonly string[] }>()).ids;
}

const RENAMED: CanaryRequest = { region: "us", parcel: "/v2/parcels/:id", ticket: "/v2/tickets/:id" };
const BY_CANARY = { region: "us", table: "rev=2; canary" };

describe.each(["parcel", "ticket"])("/any of a %s, whose path the canary changes", (entity) => {
  it("is answered by the canary itself where the table in force would be asked on its path", async () => {
    const gateway = beside({ region: "eu" }, RENAMED, { share: 100 });
    const [id = ""] = await mint(entity, 1);
    expect(await ask(gateway, `/any/${id}/events?x=1`)).toEqual({ status: 200, location: null, ...BY_CANARY });
    expect(new URL(gateway.seen[0]?.url ?? "").pathname).toMatch(new RegExp(`^(/base)?/v2/${entity}s/[^/]+/events$`));
    expect(await ask(gateway, `/v2/${entity}s/${id}`)).toMatchObject({ region: "ap", table: "rev=1" });
  });

  it("leads to its path where the entity is all the canary's", async () => {
    const gateway = beside({ region: "eu" }, RENAMED, { entities: [entity] });
    const [id = ""] = await mint(entity, 1);
    const answer = await ask(gateway, `/any/${id}`);
    expect(answer).toMatchObject({ status: 307, location: `/v2/${entity}s/${id}`, table: BY_CANARY.table });
    expect(await ask(gateway, `/v2/${entity}s/${id}`)).toMatchObject(BY_CANARY);
  });

  it("leads to a path of both tables", async () => {
    const both = { region: "us", [entity]: [`/${entity}s/:id`, `/v2/${entity}s/:id`] };
    const gateway = beside({ region: "eu" }, both, { share: 100 });
    const [id = ""] = await mint(entity, 1);
    expect(await ask(gateway, `/any/${id}`)).toMatchObject({ status: 307, location: `/${entity}s/${id}` });
    expect(await ask(gateway, `/${entity}s/${id}`)).toMatchObject(BY_CANARY);
  });
});

const paths = (name: string) =>
  fc.constantFrom(
    `/${name}s/:id`,
    `/v2/${name}s/:id`,
    [`/${name}s/:id`, `/v2/${name}s/:id`],
    [`/v2/${name}s/:id`, `/${name}s/:id`],
    [`/new/${name}s/:id`, `/v2/*/${name}s/:id`],
  );
const request: fc.Arbitrary<CanaryRequest> = fc
  .record({
    region: fc.constantFrom("eu", "us"),
    parcel: paths("parcel"),
    ticket: paths("ticket"),
    box: fc.option(fc.constantFrom("/v2/parcels/:id", "/tickets/:id"), { nil: "/boxes/:id" }),
  })
  .filter(({ box, parcel, ticket }) => ![parcel, ticket].flat().includes(box));
const audience: fc.Arbitrary<CanarySelector> = fc.oneof(
  fc.constantFrom(50, 100).map((share) => ({ share })),
  fc.subarray(["parcel", "ticket", "box"], { minLength: 1 }).map((entities) => ({ entities })),
);

it("no redirect of /any leads to another table, another region or another entity, whatever paths a canary changes", async () => {
  const ids = [...(await mint("parcel", 4)), ...(await mint("ticket", 4))];
  const counts = { led: 0, answered: 0 };
  await fc.assert(
    fc.asyncProperty(request, request, audience, async (stable, canary, whom) => {
      const gateway = beside(stable, canary, whom);
      for (const id of ids) {
        const { status, location, region, table } = await ask(gateway, `/any/${id}`);
        if (location === null) {
          expect([status, region]).toEqual([200, table === "rev=1" ? stable.region : canary.region]);
          counts.answered++;
        } else {
          const followed = await ask(gateway, location);
          const decided = table === "rev=1" ? stable.region : canary.region;
          expect(followed).toEqual({ status: 200, location: null, region: decided, table });
          expect([null, decided]).toContain(region);
          counts.led++;
        }
      }
    }),
    { numRuns: runs(30) },
  );
  expect(counts.led).toBeGreaterThan(runs(30));
  expect(counts.answered).toBeGreaterThan(runs(8));
});

it("finds a public ID for which the table in force knows no region, where the entity is all the canary's", async () => {
  const table = tableOf({ region: "us" });
  const withoutRegion = { ...table, routes: [{ when: { entity: "parcel" }, region: "eu" }] };
  const tables = tablesOf(servedBeside(withoutRegion, table, { entities: ["ticket"] }));
  const gateway = setUp({ publicKeys, gateway: { tables } });
  const [id = ""] = await mint("ticket", 1);
  expect(await ask(gateway, `/any/${id}`)).toMatchObject({
    status: 307,
    location: `/tickets/${id}`,
    table: "rev=2; canary",
  });
  expect(await ask(gateway, `/tickets/${id}`)).toMatchObject(BY_CANARY);
});
