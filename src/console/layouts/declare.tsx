import { useMemo, useState } from "preact/hooks";
import { ALPHABET_NAMES, type Role, TEXT_NAMES, type TextName } from "../../ids/index.ts";
import type { Hint, LayoutAmbiguity } from "../../routing/index.ts";
import type { DeclaredLayout, DeclaredRow } from "../../routing/schema/table.ts";
import { Button, Copy } from "../app/parts/button.tsx";
import { Choice, Field } from "../app/parts/fields.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { Note, Sheet } from "../app/parts/sheet.tsx";
import { Table } from "../app/parts/table.tsx";
import { knownTable } from "../app/session.ts";
import { plural } from "../app/words.ts";
import { OneLayout } from "./field-map.tsx";
import { LoadSheet, Samples } from "./load.tsx";
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
    <div class="pile">
      <Sheet
        title="Its fields, most significant first"
        aside={<Copy text={json} label="the JSON" name="Copy as JSON" kind="plain" />}
        footer={
          <Button
            icon="plus"
            onClick={() =>
              setRows([
                ...rows,
                { id: Date.now(), field: `field${rows.length + 1}`, bits: "8", role: "random", value: "" },
              ])
            }
          >
            Add a field
          </Button>
        }
      >
        <div class="in">
          <div class="fields">
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
        </div>
        <Table
          label="Fields"
          columns={["Field", "Bits", "Role", "Value", "Change"].map((column) => ({ name: column }))}
          rows={rows.map((row, at) => ({
            key: row.id,
            cells: cellsOf(
              row,
              at,
              (part) => change(row.id, part),
              () => setRows(rows.filter(({ id }) => id !== row.id)),
            ),
          }))}
        />
      </Sheet>
      <TrialView trial={trial} />
    </div>
  );
}

/** The inputs of one field of the layout. */
function cellsOf(row: WrittenRow, at: number, change: (part: Partial<WrittenRow>) => void, remove: () => void) {
  const number = at + 1;
  return [
    <input
      key="name"
      class="input"
      aria-label={`Name of field ${number}`}
      value={row.field}
      onInput={(event) => change({ field: event.currentTarget.value })}
    />,
    <input
      key="bits"
      class="input"
      aria-label={`Bits of field ${number}`}
      type="number"
      min={1}
      max={256}
      value={row.bits}
      onInput={(event) => change({ bits: event.currentTarget.value })}
    />,
    <select
      key="role"
      class="input"
      aria-label={`Role of field ${number}`}
      value={row.role}
      onChange={(event) => change({ role: event.currentTarget.value as Role })}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>,
    row.role === "fixed" ? (
      <input
        key="value"
        class="input"
        aria-label={`Value of field ${number}`}
        type="number"
        min={0}
        value={row.value}
        onInput={(event) => change({ value: event.currentTarget.value })}
      />
    ) : (
      <small key="value">{row.role === "time" ? "ms since 2020" : "–"}</small>
    ),
    <Button key="remove" size="small" onClick={remove}>
      Remove<span class="hidden"> field {number}</span>
    </Button>,
  ];
}

function TrialView({ trial }: { trial: Trial }) {
  if (!trial.ok) {
    return (
      <Sheet title="It cannot be used yet" aside={<span class="soft">{plural(trial.faults.length, "fault")}</span>}>
        <div role="status">
          <ul class="list">
            {trial.faults.slice(0, 10).map(({ pointer, message }) => (
              <li key={pointer + message}>
                <Icon name="bad" />
                <div>
                  {message}
                  <small>
                    <code>{pointer}</code>
                  </small>
                </div>
              </li>
            ))}
          </ul>
        </div>
      </Sheet>
    );
  }
  const { layout, ambiguities } = trial;
  return (
    <>
      <OneLayout layout={layout} />
      {ambiguities.length === 0 ? (
        <div role="status">
          <Note kind="done" title="It is mistaken for nothing">
            Every text of it is told from all others {knownTable.value ? "of the table" : "that are common"}.
          </Note>
        </div>
      ) : (
        <Sheet title="Layouts it could be mistaken for">
          <div role="status">
            <ul class="list">
              {ambiguities.map((each) => (
                <li key={each.reason + each.entity}>
                  <Icon name="warn" />
                  <div>
                    {each.reason}
                    {each.entity === undefined ? " on /any" : ` on the paths of ${each.entity}`}
                    {each.example !== undefined && (
                      <>
                        : <code>{each.example}</code> is both
                      </>
                    )}
                    .<small>{hintInWords(each)}</small>
                  </div>
                </li>
              ))}
            </ul>
          </div>
        </Sheet>
      )}
      <LoadSheet layout={layout} />
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
