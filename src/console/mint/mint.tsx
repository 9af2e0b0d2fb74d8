import { useMemo, useState } from "preact/hooks";
import type { Layout } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { force } from "../app/force.ts";
import { Button } from "../app/parts/button.tsx";
import { Choice, Field } from "../app/parts/fields.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Note, PageHead, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { fragmentOf, place } from "../app/router.ts";
import { type KnownTable, knownTable, reader } from "../app/session.ts";
import { countryName, plural } from "../app/words.ts";
import { type Destination, destinationOf } from "./destination.ts";
import { type Minted, MintedIds } from "./minted.tsx";
import { bodyOf, COUNT_MAX, fieldName, type Order, orderOf, type Written } from "./order.ts";
import "../style/ids.css";

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

function MintForm({ known }: { known: KnownTable }) {
  const [written, setWritten] = useState<Written>({
    entity: place.value.query.get("entity") ?? "",
    layout: "",
    country: place.value.query.get("country") ?? "",
    keys: {},
    count: "5",
  });
  const [minted, setMinted] = useState<Minted>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const { declared, revision } = known;
  const order = orderOf(declared, reader.value, written);
  if (order === undefined) {
    return <NoIds />;
  }
  const { missing, country } = order;
  const mint = async () => {
    setBusy(true);
    const answer = await call<Minted>("/mint", { method: "POST", body: bodyOf(order) });
    setBusy(false);
    setProblem(answer.ok ? undefined : answer.problem);
    if (answer.ok) setMinted({ ...answer.value, at: gatewayNow(), ...(country !== undefined && { country }) });
  };
  const isReady = missing.length === 0 && !isBusy;
  return (
    <div class="two">
      <div class="pile">
        <form
          class="sheet"
          aria-label="New IDs"
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void mint();
          }}
        >
          <div class="in">
            <OrderFields order={order} declared={declared} written={written} onChange={setWritten} />
          </div>
          <footer>
            <span class="row">
              {missing.length > 0 ? `Choose ${missing.join(", ")}.` : <Going declared={declared} {...order} />}
            </span>
            <Button kind="main" icon="plus" isSubmit isBusy={!isReady}>
              {missing.length === 0 ? `Mint ${plural(order.count, "ID")}` : "Mint"}
            </Button>
          </footer>
        </form>
        {problem && <ProblemNote problem={problem} />}
        {minted && <MintedIds minted={minted} />}
      </div>
      <Aside declared={declared} revision={revision} order={order} />
    </div>
  );
}

const NoIds = () => (
  <Note isTop kind="know" title="The table has no entity with IDs">
    Keys of a directory are claimed, not minted.
  </Note>
);

const Aside = ({ declared, revision, order }: { declared: DeclaredTable; revision: number; order: Order }) => (
  <div class="pile">
    {order.needsCountry && <ByCountry declared={declared} revision={revision} {...order} />}
    <Note kind="know" title="In a program">
      <code>POST /mint</code> with a token of the scope mint, or the library without a request.
    </Note>
  </div>
);

interface FieldsProps {
  readonly order: Order;
  readonly declared: DeclaredTable;
  readonly written: Written;
  readonly onChange: (written: Written) => void;
}

const OrderFields = ({ order, declared, written, onChange }: FieldsProps) => (
  <div class="fields">
    <Choice
      label="Entity"
      value={order.entity}
      options={order.entities.map((name) => [name, name])}
      onChange={(entity) => onChange({ ...written, entity })}
    />
    {order.layouts.length > 1 && (
      <Choice
        label="Layout"
        value={order.layout.name}
        options={order.layouts.map((name) => [name, name])}
        onChange={(layout) => onChange({ ...written, layout })}
      />
    )}
    {order.needsCountry && (
      <Choice
        label="Country"
        value={written.country}
        options={countryOptions(declared)}
        onChange={(country) => onChange({ ...written, country })}
      />
    )}
    {order.asked.map((name) => (
      <Field
        key={name}
        label={fieldName(name)}
        type="number"
        min={0}
        value={written.keys[name] ?? ""}
        onInput={(text) => onChange({ ...written, keys: { ...written.keys, [name]: text } })}
      />
    ))}
    <Field
      label="How many"
      type="number"
      min={1}
      max={COUNT_MAX}
      value={written.count}
      onInput={(count) => onChange({ ...written, count })}
    />
  </div>
);

const countryOptions = ({ countries }: DeclaredTable): readonly (readonly [string, string])[] => [
  ["", "Choose one"],
  ...Object.keys(countries ?? {}).map((code) => [code, countryName(code)] as const),
];

interface GoingProps {
  readonly declared: DeclaredTable;
  readonly entity: string;
  readonly layout: Layout;
  readonly country?: string | undefined;
  readonly fields: Readonly<Record<string, number | bigint>>;
}

/** Where they would go, before there are any. */
function Going({ declared, entity, layout, country, fields }: GoingProps) {
  const wanted = { entity, layout, country, fields };
  const to = useMemo(
    () => destinationOf(reader.value, declared, wanted, gatewayNow()),
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
  const canary = force.value?.canary;
  if (canary !== undefined) return <span>or where canary {canary.revision} sends them: it decides about some IDs</span>;
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
function ByCountry({ revision, declared, entity, layout, fields }: GoingProps & { revision: number }) {
  const groups = useMemo(() => {
    const found = Object.keys(declared.countries ?? {}).map((country) => {
      const to = destinationOf(reader.value, declared, { entity, layout, country, fields }, gatewayNow());
      return { country, region: to?.isForAll ? (to.region ?? "") : undefined };
    });
    const order: readonly (string | undefined)[] = [...Object.keys(declared.regions), undefined, ""];
    const groups = [...Map.groupBy(found, ({ region }) => region)];
    return groups.toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
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
