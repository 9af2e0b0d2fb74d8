import { useMemo, useState } from "preact/hooks";
import { ALPHABET_NAMES, type Role, TEXT_NAMES, type TextName } from "../../ids/index.ts";
import type { Hint, LayoutAmbiguity } from "../../routing/index.ts";
import type { DeclaredLayout, DeclaredRow } from "../../routing/schema/table.ts";
import { Choice, CopyButton, Field, Panel, Scroll, Table } from "../app/parts.tsx";
import { knownTable } from "../app/session.ts";
import { LoadPanel, Samples } from "./capacity.tsx";
import { type Trial, tryLayout } from "./try-layout.ts";

const ROLES: readonly Role[] = ["fixed", "time", "key", "node", "counter", "random"];

/** A row as it is written: numbers are texts until the check reads them. */
interface WrittenRow {
  readonly id: number;
  readonly field: string;
  readonly bits: string;
  readonly role: Role;
  readonly value: string;
}

const FIRST: readonly WrittenRow[] = [
  { id: 1, field: "mintedAt", bits: "41", role: "time", value: "" },
  { id: 2, field: "tenant", bits: "10", role: "key", value: "" },
  { id: 3, field: "counter", bits: "13", role: "counter", value: "" },
];

const EPOCH = "2020-01-01T00:00:00Z";

const declaredRow = ({ field, bits, role, value }: WrittenRow): DeclaredRow => ({
  field,
  bits: Number(bits),
  role,
  ...(role === "fixed" && { value: Number(value) }),
  ...(role === "time" && { unit: "ms" as const, epoch: EPOCH }),
});

const OWN_DIGITS = "digits of your own";

/** The forms by name, and alphabets whose names are not of forms. */
const TEXT_CHOICES = [...new Set<string>([...TEXT_NAMES, ...ALPHABET_NAMES, OWN_DIGITS])];

const textOf = (choice: string, digits: string): NonNullable<DeclaredLayout["text"]> => {
  if (choice === OWN_DIGITS) return { alphabet: digits };
  return TEXT_NAMES.some((name) => name === choice) ? (choice as TextName) : { alphabet: choice };
};

/** A layout of one's own, checked before it is in the table. */
export function DeclareLayout() {
  const [name, setName] = useState("invoice-id");
  const [text, setText] = useState("base32");
  const [digits, setDigits] = useState("0123456789abcdefghjkmnpqrstvwxyz");
  const [prefix, setPrefix] = useState("");
  const [rows, setRows] = useState(FIRST);
  const declared = useMemo(
    (): DeclaredLayout => ({
      rows: rows.map(declaredRow),
      text: textOf(text, digits),
      ...(prefix !== "" && { prefix }),
    }),
    [rows, text, digits, prefix],
  );
  const table = knownTable.value?.declared;
  const trial = useMemo(() => tryLayout(name, declared, table), [name, declared, table]);
  const change = (id: number, part: Partial<WrittenRow>) =>
    setRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const json = JSON.stringify({ [name]: declared }, null, 2);
  return (
    <>
      <h2 class="apart">Declare your own</h2>
      <Panel title="Its fields, most significant first">
        <div class="columns">
          <Field label="Name" value={name} onInput={setName} />
          <Choice
            label="Text form"
            value={text}
            options={TEXT_CHOICES.map((each) => [each, each])}
            onChange={setText}
          />
          {text === OWN_DIGITS && (
            <Field label="Digits" hint="In order of value, as they are written." value={digits} onInput={setDigits} />
          )}
          <Field label="Prefix" hint="Such as inv_; a prefix is never mistaken." value={prefix} onInput={setPrefix} />
        </div>
        <Table label="Fields" columns={["Field", "Bits", "Role", "Value", "Change"]}>
          {rows.map((row, at) => (
            <tr key={row.id}>
              <td>
                <input
                  aria-label={`Name of field ${at + 1}`}
                  value={row.field}
                  onInput={(event) => change(row.id, { field: event.currentTarget.value })}
                />
              </td>
              <td>
                <input
                  aria-label={`Bits of field ${at + 1}`}
                  type="number"
                  min={1}
                  max={256}
                  value={row.bits}
                  onInput={(event) => change(row.id, { bits: event.currentTarget.value })}
                />
              </td>
              <td>
                <select
                  aria-label={`Role of field ${at + 1}`}
                  value={row.role}
                  onChange={(event) => change(row.id, { role: event.currentTarget.value as Role })}
                >
                  {ROLES.map((role) => (
                    <option key={role} value={role}>
                      {role}
                    </option>
                  ))}
                </select>
              </td>
              <td>
                {row.role === "fixed" ? (
                  <input
                    aria-label={`Value of field ${at + 1}`}
                    type="number"
                    min={0}
                    value={row.value}
                    onInput={(event) => change(row.id, { value: event.currentTarget.value })}
                  />
                ) : (
                  <small>{row.role === "time" ? "ms since 2020" : "–"}</small>
                )}
              </td>
              <td>
                <button type="button" class="small" onClick={() => setRows(rows.filter(({ id }) => id !== row.id))}>
                  Remove<span class="hidden"> field {at + 1}</span>
                </button>
              </td>
            </tr>
          ))}
        </Table>
        <div class="actions">
          <button
            type="button"
            onClick={() =>
              setRows([
                ...rows,
                { id: Date.now(), field: `field${rows.length + 1}`, bits: "8", role: "random", value: "" },
              ])
            }
          >
            Add a field
          </button>
          <CopyButton text={json} label="JSON" name="Copy as JSON" />
        </div>
      </Panel>
      <TrialView trial={trial} />
    </>
  );
}

function TrialView({ trial }: { trial: Trial }) {
  if (!trial.ok) {
    return (
      <div class="box bad" role="status">
        <strong>It cannot be used yet</strong>
        <ul>
          {trial.faults.slice(0, 10).map(({ pointer, message }) => (
            <li key={pointer + message}>
              <code>{pointer}</code> {message}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  const { layout, ambiguities } = trial;
  return (
    <>
      <Panel title="Its diagram">
        <Scroll label="Diagram of the new layout">
          <pre class="diagram">{trial.diagram}</pre>
        </Scroll>
      </Panel>
      <Panel title="Layouts it could be mistaken for">
        {ambiguities.length === 0 ? (
          <p class="box good" role="status">
            For nothing: every text of it is told from all others{" "}
            {knownTable.value ? "of the table" : "that are common"}.
          </p>
        ) : (
          <div role="status">
            <ul>
              {ambiguities.map((each) => (
                <li key={each.reason + each.entity}>
                  {each.reason}
                  {each.entity === undefined ? " on /any" : ` on the paths of ${each.entity}`}
                  {each.example !== undefined && (
                    <>
                      : <code>{each.example}</code> is both
                    </>
                  )}
                  . {hintInWords(each)}
                </li>
              ))}
            </ul>
          </div>
        )}
      </Panel>
      <LoadPanel layout={layout} />
      <Samples layout={layout} />
    </>
  );
}

const hintInWords = ({ hints }: LayoutAmbiguity): string =>
  hints.length === 0 ? "" : `Any of these helps: ${hints.map(wordsOfHint).join(", ")}.`;

function wordsOfHint(hint: Hint): string {
  switch (hint.by) {
    case "path":
      return `the path (${hint.paths.join(", ")})`;
    case "pattern":
      return "a pattern that names the layout";
    case "header":
      return `the header ${hint.header}`;
    default:
      return `a prefix for ${hint.layouts.join(" or ")}`;
  }
}
