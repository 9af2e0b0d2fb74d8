import { useMemo, useState } from "preact/hooks";
import type { Layout } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { call, type Problem } from "../app/api.ts";
import { Button } from "../app/parts/button.tsx";
import { Choice, Field } from "../app/parts/fields.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Note, PageHead, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf, place } from "../app/router.ts";
import { type KnownTable, knownTable, reader } from "../app/session.ts";
import { countryName, plural } from "../app/words.ts";
import { type Destination, destinationOf } from "./destination.ts";
import { type Minted, MintedIds } from "./minted.tsx";
import "../style/ids.css";

const COUNT_MAX = 1000;

/** IDs from the gateway, and before that where they would go. They route from the first request on. */
export default function Mint() {
  const known = knownTable.value;
  return (
    <>
      <PageHead title="Mint" text="New IDs from the gateway. They route from the first request on." />
      {known === undefined ? (
        <section class="sheet">
          <Skeleton label="Loading the table" />
        </section>
      ) : (
        <MintForm known={known} />
      )}
    </>
  );
}

/** Fields that the form has in words of its own, or that the gateway fills in. */
const NOT_ASKED = ["country", "service", "group", "primaryKey", "machine", "process"];

const NAMES: Readonly<Record<string, string>> = { shardKey: "Shard key" };

const asNumber = (text: string): number | bigint => {
  const number = BigInt(text);
  return number > Number.MAX_SAFE_INTEGER ? number : Number(number);
};

const isNumber = (text: string): boolean => /^\d{1,20}$/.test(text.trim());

function MintForm({ known: { declared, revision } }: { known: KnownTable }) {
  const entities = Object.entries(declared.entities ?? {}).flatMap(([name, { ids }]) => (ids.length > 0 ? [name] : []));
  const [picked, setEntity] = useState(place.value.query.get("entity") ?? "");
  const entity = entities.includes(picked) ? picked : (entities[0] ?? "");
  const [country, setCountry] = useState(place.value.query.get("country") ?? "");
  const [keys, setKeys] = useState<Readonly<Record<string, string>>>({});
  const [count, setCount] = useState("5");
  const [minted, setMinted] = useState<Minted>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const layouts = declared.entities?.[entity]?.ids.map(({ layout }) => layout) ?? [];
  const [chosen, setLayout] = useState("");
  const layoutName = layouts.includes(chosen) ? chosen : (layouts[0] ?? "");
  const layout = reader.value.layout(layoutName);
  if (layout === undefined) {
    return (
      <Note kind="know" title="The table has no entity with IDs">
        Keys of a directory are claimed, not minted.
      </Note>
    );
  }
  const needsCountry = layout.field("country") !== undefined;
  const asked = layout.fields.flatMap(({ name, role }) =>
    (role === "key" || role === "node") && !NOT_ASKED.includes(name) ? [name] : [],
  );
  const given = Object.fromEntries(
    asked.flatMap((name) => (isNumber(keys[name] ?? "") ? [[name, asNumber((keys[name] ?? "").trim())]] : [])),
  );
  const number = Number(count);
  const missing = [
    ...(needsCountry && country === "" ? ["a country"] : []),
    ...asked.flatMap((name) => (Object.hasOwn(given, name) ? [] : [NAMES[name]?.toLowerCase() ?? name])),
    ...(Number.isInteger(number) && number >= 1 && number <= COUNT_MAX ? [] : [`how many, up to ${COUNT_MAX}`]),
  ];
  const mint = async () => {
    setBusy(true);
    const answer = await call<Minted>("/mint", {
      method: "POST",
      body: bodyOf({
        entity,
        count: number,
        country: needsCountry ? country : "",
        given,
        ...(layouts.length > 1 && { layout: layoutName }),
      }),
    });
    setBusy(false);
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) setMinted({ ...answer.value, at: Date.now(), ...(needsCountry && { country }) });
  };
  const because = missing.length === 0 ? undefined : `Choose ${missing.join(", ")}.`;
  return (
    <div class="two">
      <div class="pile">
        <form
          class="sheet"
          aria-label="New IDs"
          onSubmit={(event) => {
            event.preventDefault();
            if (because === undefined && !isBusy) void mint();
          }}
        >
          <div class="in">
            <div class="fields">
              <Choice
                label="Entity"
                value={entity}
                options={entities.map((name) => [name, name])}
                onChange={setEntity}
              />
              {layouts.length > 1 && (
                <Choice
                  label="Layout"
                  value={layoutName}
                  options={layouts.map((name) => [name, name])}
                  onChange={setLayout}
                />
              )}
              {needsCountry && (
                <Choice label="Country" value={country} options={countryOptions(declared)} onChange={setCountry} />
              )}
              {asked.map((name) => (
                <Field
                  key={name}
                  label={NAMES[name] ?? name}
                  type="number"
                  min={0}
                  value={keys[name] ?? ""}
                  onInput={(text) => setKeys({ ...keys, [name]: text })}
                />
              ))}
              <Field label="How many" type="number" min={1} max={COUNT_MAX} value={count} onInput={setCount} />
            </div>
          </div>
          <footer>
            <span class="row">
              {because === undefined ? (
                <Going {...{ declared, entity, layout, fields: given }} country={needsCountry ? country : undefined} />
              ) : (
                because
              )}
            </span>
            <Button kind="main" icon="plus" isSubmit isBusy={because !== undefined || isBusy}>
              {because === undefined ? `Mint ${plural(number, "ID")}` : "Mint"}
            </Button>
          </footer>
        </form>
        {problem && <ProblemNote problem={problem} />}
        {minted && <MintedIds minted={minted} />}
      </div>
      <div class="pile">
        {needsCountry && <ByCountry {...{ declared, entity, layout, fields: given, revision }} />}
        <Note kind="know" title="In a program">
          <code>POST /mint</code> with a token of the scope mint, or the library without a request.
        </Note>
      </div>
    </div>
  );
}

const countryOptions = ({ countries }: DeclaredTable): readonly (readonly [string, string])[] => [
  ["", "Choose one"],
  ...Object.keys(countries ?? {}).map((code) => [code, countryName(code)] as const),
];

interface Order {
  readonly entity: string;
  readonly count: number;
  readonly country: string;
  readonly layout?: string;
  readonly given: Readonly<Record<string, number | bigint>>;
}

/** Numbers above 53 bits go as text. */
function bodyOf({ entity, count, country, layout, given }: Order): object {
  const { shardKey, ...fields } = given;
  const texts = Object.entries(fields).map(([name, value]) => [name, typeof value === "bigint" ? `${value}` : value]);
  return {
    entity,
    count,
    ...(layout !== undefined && { layout }),
    ...(country !== "" && { country }),
    ...(shardKey !== undefined && { shardKey }),
    ...(texts.length > 0 && { fields: Object.fromEntries(texts) }),
  };
}

interface GoingProps {
  readonly declared: DeclaredTable;
  readonly entity: string;
  readonly layout: Layout;
  readonly country?: string | undefined;
  readonly fields: Readonly<Record<string, number | bigint>>;
}

/** Where they would go, before there are any. */
function Going({ declared, ...wanted }: GoingProps) {
  const to = useMemo(
    () => destinationOf(reader.value, declared, wanted, Date.now()),
    [
      declared,
      reader.value,
      wanted.entity,
      wanted.layout,
      wanted.country,
      JSON.stringify(Object.entries(wanted.fields).map(String)),
    ],
  );
  const whose = `New ${wanted.entity} IDs${wanted.country ? ` of ${countryName(wanted.country)}` : ""}`;
  if (to === undefined) return <>The gateway says where they go, once they are minted.</>;
  if (to.region === undefined) return <>{whose} go nowhere: no route takes them. The gateway refuses to mint them.</>;
  return (
    <>
      {whose} go to <RegionChip name={to.region} isBoxed /> <By to={to} />
    </>
  );
}

function By({ to: { rule, isForAll } }: { to: Destination }) {
  if (!isForAll) return <span>or elsewhere, by the rest of their bits</span>;
  if (rule?.kind === "default") return <span class="faint">by the default</span>;
  if (rule?.kind !== "route" && rule?.kind !== "canary") return null;
  const route = `${rule.index + 1}`;
  return (
    <span class="faint">
      by <a href={fragmentOf("routes", { route })}>route {route}</a>
    </span>
  );
}

/** All countries of the table by the region of their new IDs. */
function ByCountry({ revision, ...wanted }: GoingProps & { revision: number }) {
  const { declared, entity, layout, fields } = wanted;
  const groups = useMemo(() => {
    const found = Object.keys(declared.countries ?? {}).map((country) => {
      const to = destinationOf(reader.value, declared, { entity, layout, country, fields }, Date.now());
      return { country, region: to?.isForAll ? (to.region ?? "") : undefined };
    });
    return [...Map.groupBy(found, ({ region }) => region)];
  }, [declared, reader.value, entity, layout]);
  return (
    <Sheet title="What new IDs of a country get" footer={`By revision ${revision}. Minted IDs cannot be taken back.`}>
      <ul class="list">
        {groups.map(([region, all]) => (
          <li key={region}>
            {region === undefined ? (
              <b>by other bits</b>
            ) : region === "" ? (
              <b>nowhere</b>
            ) : (
              <RegionChip name={region} />
            )}
            <div>{all.map(({ country }) => countryName(country)).join(", ")}</div>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
