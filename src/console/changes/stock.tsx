import { useEffect, useState } from "preact/hooks";
import { call, type Problem } from "../app/api.ts";
import { Facts, Panel, ProblemBox, Table } from "../app/parts.tsx";
import { knownTable } from "../app/session.ts";
import { countText, percentText } from "../app/words.ts";
import { Directories } from "./directories.tsx";

/** The table beside its text: packs, directories, and how near it is to its limits. */
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
