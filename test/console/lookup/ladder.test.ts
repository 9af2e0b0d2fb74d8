import { describe, expect, it } from "vitest";
import { readOne } from "../../../src/console/lookup/read-pasted.ts";
import { bareReader, bitsOf, chosenOf } from "../../../src/console/lookup/reader.ts";
import { readerOfTable } from "../../../src/console/lookup/table-reader.ts";
import { knownOf } from "../../../src/console/lookup/verdict/known.ts";
import { judgeOf, ladderOf } from "../../../src/console/lookup/verdict/ladder.ts";
import { problemStatus, REFUSAL_SLUGS } from "../../../src/console/lookup/verdict/refusals.ts";
import { CATALOGUE, type ProblemSlug } from "../../../src/problems/catalogue.ts";
import type { DeclaredTable } from "../../../src/routing/index.ts";
import { readDemoTable } from "../../system/demo/demo.ts";

const nowMs = Date.parse("2026-11-26T22:00:00Z");
const demo = readDemoTable() as DeclaredTable;
/** An order of Kazakhstan: of 2024, and of November 2026. */
const EARLY = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";
const LATE = "01a219c1-91d1-8005-805e-926d709be1b4";
const MOVED = "0192f0c1-7a30-8005-8040-8f3b2a1c9d77";
/** Its country is none of the table. */
const NOWHERE = "0192f0c1-7a30-80ff-8040-8f3b2a1c9d78";

function known(id: string, declared: DeclaredTable = demo) {
  const reader = readerOfTable(declared, 42) ?? bareReader;
  const table = { declared, text: "", revision: 42, lineOf: () => 39 };
  return knownOf({ reader, pasted: readOne(id, reader), asked: undefined, table, keyed: [], nowMs });
}

const rungsOf = (id: string, declared?: DeclaredTable) =>
  known(id, declared).ladder?.map(({ kind, text, small, region }) => [kind, text, small, region]);

describe("why a region, and not another one", () => {
  it("routes before the one that decides say why not, and those after it are not reached", () => {
    expect(rungsOf(LATE)).toEqual([
      ["miss", "Moved, moving or gone", "No entry for this ID", undefined],
      ["miss", expect.stringMatching(/^Route 1: .*Kazakhstan/), "It was minted later. Would go to eu", undefined],
      ["hit", expect.stringMatching(/^Route 2: .*Kazakhstan, Uzbekistan or India/), "", "ap"],
      ["off", "Routes 3 to 11", "Not reached: the first that fits wins", undefined],
    ]);
    expect(rungsOf(EARLY)?.[1]?.slice(0, 1)).toEqual(["hit"]);
  });

  it("an entry of its own comes before the route that would take it", () => {
    expect(rungsOf(MOVED)).toEqual([
      ["hit", "Moved, moving or gone", "An entry of its own comes before all routes", "us"],
      ["off", expect.stringMatching(/^Route 1: /), "Would take it otherwise", "eu"],
      ["off", "Routes 2 to 11", "Not reached: the first that fits wins", undefined],
    ]);
  });

  it("without a route and a default each group of routes says what it is for", () => {
    expect(rungsOf(NOWHERE)).toEqual([
      ["miss", "Moved, moving or gone", "No entry for this ID", undefined],
      ["miss", "Routes 1 to 4", "They name countries; 255 is none of them", undefined],
      ["miss", "Routes 5 to 11", "They are for IDs of layout hotguid, or of person", undefined],
      ["stop", "No default region", "The gateway never guesses: 404", undefined],
    ]);
    expect(rungsOf(NOWHERE, { ...demo, default: "us" })?.at(-1)).toEqual([
      "hit",
      "The default region",
      "No route names it",
      "us",
    ]);
  });

  it("a rule of another table has no ladder", () => {
    const facts = { entity: "order", layout: "iuid", words: [] };
    const judge = judgeOf({ ...demo, routes: [] });
    const rule = { kind: "route", index: 3 } as const;
    expect(ladderOf({ declared: { ...demo, routes: [] }, judge, facts, rule, region: "eu" })).toBeUndefined();
  });

  it("names as the one that decides the route that the gateway's code takes, for IDs of all countries and times", () => {
    const reader = readerOfTable(demo, 42) ?? bareReader;
    const layout = reader.layout("iuid");
    const judge = judgeOf(demo);
    for (const country of [...Object.values(demo.countries ?? {}), 0, 77, 255]) {
      for (const mintedAt of [Date.parse("2020-01-01T00:00:00Z"), Date.parse("2026-05-31T23:59:59.999Z"), nowMs]) {
        const words = layout?.encode({ mintedAt, country, service: 1, random: 99 });
        const id = words?.ok ? layout?.format(words.value) : undefined;
        const reading = reader.read(readOne(id ?? "", reader), nowMs);
        const chosen = chosenOf(reading);
        const own = chosen && bitsOf(reader, chosen, id ?? "").words;
        const facts = { entity: "order", layout: "iuid", words: own ?? [] };
        const first = demo.routes.findIndex((_, index) => judge(index, facts) === undefined);
        const { rule } = reading.decision ?? {};
        expect([id, first]).toEqual([id, rule !== undefined && "index" in rule ? rule.index : -1]);
      }
    }
  });
});

describe("the verdict", () => {
  const told = (id: string, declared?: DeclaredTable) => {
    const { lead, code, because, problem } = known(id, declared).verdict;
    return [`${lead} ${code}`, because.map(({ text }) => text).join(""), problem];
  };

  it.each([
    [LATE, "Goes to ap", "because orders of Kazakhstan, Uzbekistan or India go to ap."],
    [MOVED, "Goes to us", "because this very order moved there. By the routes alone it would be in eu."],
  ])("%s: %s", (id, verdict, because) => {
    expect(told(id)).toEqual([verdict, because, undefined]);
  });

  it("says what an ID has that no route takes", () => {
    expect(told(NOWHERE)).toEqual([
      "Requests get 404",
      "because the country in it is number 255. No route takes it, and the table has no default region.",
      "unassigned-key",
    ]);
  });

  it("an entity that is gone gets 410, and one that moves is still there", () => {
    const gone = { ...demo, gone: { [EARLY]: { epoch: 3 } } } as DeclaredTable;
    expect(told(EARLY, gone).slice(0, 2)).toEqual([
      "Requests get 410",
      "because the table says that this order was removed from every region.",
    ]);
    const moves = { [EARLY]: { from: "eu", to: "us", state: "fenced", epoch: 2 } };
    expect(told(EARLY, { ...demo, moves } as DeclaredTable).slice(0, 2)).toEqual([
      "Goes to eu",
      "because a move of this very order is in progress: it is still there, and goes to us. Only reads are forwarded until then. By the routes alone it would be there too.",
    ]);
  });

  it("is doubted while a canary of the table runs, and where the table changed since the gateway was asked", () => {
    const reader = readerOfTable(demo, 42) ?? bareReader;
    const table = { declared: demo, text: "", revision: 42, lineOf: () => 39 };
    const of = { reader, pasted: readOne(LATE, reader), table, keyed: [], nowMs };
    const { verdict } = knownOf({ ...of, asked: undefined, canary: { revision: 43, words: "5 %" } });
    expect([verdict.state?.mood, verdict.more]).toEqual([
      "warn",
      ["Canary 43 decides about 5 % of the IDs: ask the gateway whether about this one."],
    ]);
    const explanation = reader.read(of.pasted, nowMs);
    const asked = { explanation, revision: 41, askedAtMs: nowMs };
    expect(knownOf({ ...of, asked }).verdict.more).toEqual(["Revision 42 was published since. Ask again."]);
    expect(knownOf({ ...of, asked: { ...asked, revision: 42 } }).verdict.more).toEqual([]);
  });

  it("an ID on the path of another entity is refused", () => {
    expect(told(`/rides/${EARLY}`)).toEqual([
      "Requests get 422",
      "because the path is one of ride, and the ID is not.",
      "wrong-entity",
    ]);
  });
});

it("statuses of problems are those of the catalogue", () => {
  for (const slug of REFUSAL_SLUGS)
    expect([slug, problemStatus(slug)]).toEqual([slug, CATALOGUE[slug as ProblemSlug].status]);
});
