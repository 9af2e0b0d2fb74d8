import { useMemo, useState } from "preact/hooks";
import { call, type Problem } from "../app/api.ts";
import { Choice, Field, Panel, ProblemBox } from "../app/parts.tsx";
import { goTo } from "../app/router.ts";
import { knownTable, reader } from "../app/session.ts";
import { pastedText } from "../app/typed.ts";
import { countryName } from "../app/words.ts";
import { ManyIds } from "../lookup/many.tsx";

interface Minted {
  readonly entity: string;
  readonly layout: string;
  readonly region?: string;
  readonly ids: readonly string[];
}

const COUNT_MAX = 1000;

/** IDs from the gateway: they route to the region that it names from the first request on. */
export default function Mint() {
  const declared = knownTable.value?.declared;
  const entities = Object.keys(declared?.entities ?? {});
  const [picked, setEntity] = useState("");
  // The table may come later than the page.
  const entity = entities.includes(picked) ? picked : (entities[0] ?? "");
  const [country, setCountry] = useState("");
  const [key, setKey] = useState("");
  const [count, setCount] = useState("5");
  const [minted, setMinted] = useState<Minted>();
  const [problem, setProblem] = useState<Problem>();
  const layouts = declared?.entities?.[entity]?.ids.map(({ layout }) => layout) ?? [];
  const [chosen, setLayout] = useState("");
  const layoutName = layouts.includes(chosen) ? chosen : (layouts[0] ?? "");
  const layout = reader.value.layout(layoutName);
  const needsCountry = layout?.field("country") !== undefined;
  const needsShard = layout?.field("shardKey") !== undefined;
  const mint = async () => {
    setProblem(undefined);
    const body = {
      entity,
      count: Number(count),
      ...(layouts.length > 1 && { layout: layoutName }),
      ...(needsCountry && country !== "" && { country }),
      ...(needsShard && key !== "" && { shardKey: Number(key) }),
    };
    const answer = await call<Minted>("/mint", { method: "POST", body });
    if (answer.ok) setMinted(answer.value);
    else setProblem(answer.problem);
  };
  const list = useMemo(
    () => minted && { items: minted.ids.map((id) => ({ source: id, id, path: undefined })), left: 0 },
    [minted],
  );
  return (
    <>
      <h1>Mint</h1>
      <Panel title="New IDs">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void mint();
          }}
        >
          <div class="columns">
            <Choice label="Entity" value={entity} options={entities.map((name) => [name, name])} onChange={setEntity} />
            {layouts.length > 1 && (
              <Choice
                label="Layout"
                value={layoutName}
                options={layouts.map((name) => [name, name])}
                onChange={setLayout}
              />
            )}
            {needsCountry && (
              <Choice
                label="Country"
                value={country}
                options={[
                  ["", "Choose one"],
                  ...Object.keys(declared?.countries ?? {}).map((code) => [code, countryName(code)] as const),
                ]}
                onChange={setCountry}
              />
            )}
            {needsShard && (
              <Field label="Shard key" type="number" min={0} max={4_294_967_295} value={key} onInput={setKey} />
            )}
            <Field label="How many" type="number" min={1} max={COUNT_MAX} value={count} onInput={setCount} />
          </div>
          <button type="submit" class="main">
            Mint
          </button>
        </form>
        {problem && <ProblemBox problem={problem} />}
        {minted && (
          <p role="status">
            The gateway says: {minted.entity} in layout {minted.layout}
            {minted.region !== undefined && (
              <>
                , region <strong>{minted.region}</strong>
              </>
            )}
            .
          </p>
        )}
      </Panel>
      {list && (
        <ManyIds
          key={list}
          list={list}
          reader={reader.value}
          onPick={({ source }) => {
            pastedText.value = source;
            goTo("look-up", { id: source });
          }}
        />
      )}
    </>
  );
}
