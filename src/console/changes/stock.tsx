import { useEffect, useState } from "preact/hooks";
import { call, type Problem } from "../app/api.ts";
import { Facts, Field, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable } from "../app/session.ts";
import { countText, percentText } from "../app/words.ts";

/** What the table holds beside its text: packs, directories, and how near it is to its limits. */
export default function Stock() {
  return (
    <>
      <h1>Packs, directories and limits</h1>
      <Packs />
      <Directories />
      <Limits />
    </>
  );
}

function Packs() {
  const packs = Object.entries(knownTable.value?.declared.packs ?? {});
  return (
    <Panel title="Packs">
      {packs.length === 0 ? (
        <p>The table has no packs.</p>
      ) : (
        <Facts
          rows={packs.map(([name, { ranges, bytes, regions, sha256 }]) => [
            name,
            <>
              {countText(ranges)} ranges, {countText(bytes)} bytes, to {regions.join(", ")}
              <br />
              <small>
                <code>{sha256}</code>
              </small>
            </>,
          ])}
        />
      )}
    </Panel>
  );
}

function Directories() {
  const names = Object.keys(knownTable.value?.declared.directory ?? {});
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [entry, setEntry] = useState<Readonly<Record<string, unknown>>>();
  const [problem, setProblem] = useState<Problem>();
  if (names.length === 0) {
    return (
      <Panel title="Directories">
        <p>The table has no directories.</p>
      </Panel>
    );
  }
  const chosen = names.includes(name) ? name : (names[0] ?? "");
  const find = async () => {
    const answer = await call<Readonly<Record<string, unknown>>>(
      `/-/directory/${encodeURIComponent(chosen)}/${encodeURIComponent(key.trim())}`,
    );
    setEntry(answer.ok ? answer.value : undefined);
    setProblem(answer.ok ? undefined : answer.problem);
  };
  return (
    <Panel title="Directories">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void find();
        }}
      >
        <div class="columns">
          <div class="field">
            <label for="directory">Directory</label>
            <select id="directory" value={chosen} onChange={(event) => setName(event.currentTarget.value)}>
              {names.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </div>
          <Field label="Key" value={key} onInput={setKey} isRequired />
        </div>
        <button type="submit" class="main">
          Find
        </button>
      </form>
      {problem && <ProblemBox problem={problem} />}
      {entry && (
        <div role="status">
          <Facts
            rows={Object.entries(entry).map(([member, value]) => [
              member,
              typeof value === "string" ? value : JSON.stringify(value),
            ])}
          />
        </div>
      )}
    </Panel>
  );
}

type Uses = Readonly<Record<string, { readonly used: number; readonly max: number }>>;

function Limits() {
  const [uses, setUses] = useState<Uses>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    void call<Uses>("/-/table/capacity").then((answer) =>
      answer.ok ? setUses(answer.value) : setProblem(answer.problem),
    );
  }, [knownTable.value?.revision]);
  return (
    <Panel title="Limits of the table">
      {problem && <ProblemBox problem={problem} />}
      {uses && (
        <Table label="Limits" columns={["Limit", { number: "Used" }, { number: "Of" }, { number: "Share" }]}>
          {Object.entries(uses).map(([name, { used, max }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{countText(used)}</td>
              <td class="number">{countText(max)}</td>
              <td class="number">{percentText(used / max)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}
