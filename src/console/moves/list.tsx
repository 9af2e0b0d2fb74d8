import { useMemo, useState } from "preact/hooks";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Empty } from "../app/parts/sheet.tsx";
import { Mark } from "../app/parts/state.tsx";
import { Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { type KnownTable, reader } from "../app/session.ts";
import { moveTicks } from "../app/typed.ts";
import { agoText, countText, shortTime } from "../app/words.ts";
import { countryOf } from "../lookup/label/meaning.ts";
import { readOne } from "../lookup/read-pasted.ts";
import { chosenOf } from "../lookup/reader.ts";
import { homeOf } from "./home.ts";
import { countsOf, foundIn, isLate, KINDS, type Kind, type MoveRow, rowsOf, shortId, waitsFor } from "./rows.ts";
import { type Since, useSince } from "./since.ts";
import { stepOf } from "./stages.ts";
import { tickedAt } from "./ticks.ts";

const TITLES: Readonly<Record<Kind, string>> = { moving: "Moving", moved: "Moved", gone: "Gone" };
const NONE: Readonly<Record<Kind, string>> = {
  moving: "No entity is on its way.",
  moved: "The table names no entity that has moved.",
  gone: "The table names no entity that is gone.",
};

const SHOWN = 25;

interface Props {
  readonly known: KnownTable;
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}

/** All entities that the table names, with who waits for whom. */
export function MoveList({ known, chosen, onChoose }: Props) {
  const counts = countsOf(known.declared);
  const [picked, setKind] = useState<Kind>();
  const kind = picked ?? (counts.moving === 0 && counts.moved > 0 ? "moved" : "moving");
  const [text, setText] = useState("");
  const [shown, setShown] = useState(SHOWN);
  const rows = useMemo(() => rowsOf(known.declared, kind), [known, kind]);
  const forms = useMemo(() => formsOf(text), [text, known]);
  const found = useMemo(() => foundIn(rows, text, forms), [rows, text, forms]);
  const part = found.slice(0, shown);
  const since = useSince(
    part.flatMap(({ id, at }) => (at.state === "gone" ? [] : [id])),
    known.revision,
  );
  return (
    <section class="sheet" aria-label="Entities that move, moved or are gone">
      <ListHead
        counts={counts}
        kind={kind}
        onKind={(next) => {
          setKind(next);
          setShown(SHOWN);
        }}
        text={text}
        onText={setText}
      />
      {part.length === 0 ? (
        <NoRows kind={kind} isEmpty={rows.length === 0} />
      ) : (
        <Rows {...{ kind, part, since, chosen, onChoose }} />
      )}
      {found.length > part.length && (
        <footer>
          <span>
            {countText(part.length)} of {countText(found.length)}, the newest of the table's text first
          </span>
          <Button size="small" onClick={() => setShown(shown + 4 * SHOWN)}>
            Show more
          </Button>
        </footer>
      )}
    </section>
  );
}

const NoRows = ({ kind, isEmpty }: { kind: Kind; isEmpty: boolean }) => (
  <Empty icon="moves" title={isEmpty ? NONE[kind] : "No ID of this list has that text."}>
    {isEmpty
      ? "To move one, paste its ID at “Move an entity”, or look it up and choose “Move this”."
      : "Other kinds have lists of their own above."}
  </Empty>
);

interface RowsProps extends Omit<Props, "known"> {
  readonly kind: Kind;
  readonly part: readonly MoveRow[];
  readonly since: ReadonlyMap<string, Since>;
}

const Rows = ({ kind, part, since, chosen, onChoose }: RowsProps) => (
  <Table
    label={TITLES[kind]}
    class="moves rows"
    columns={[
      { name: "Entity", class: "c-ent" },
      { name: "From, to", class: "c-way", isPlain: true },
      { name: "Step", class: "wide c-step", isPlain: true },
      { name: "Since", class: "c-age", isPlain: true },
    ]}
    rows={part.map((row) => rowOf(row, since.get(row.id), row.id === chosen, onChoose))}
  />
);

interface HeadProps {
  readonly counts: Readonly<Record<Kind, number>>;
  readonly kind: Kind;
  readonly onKind: (kind: Kind) => void;
  readonly text: string;
  readonly onText: (text: string) => void;
}

const ListHead = ({ counts, kind, onKind, text, onText }: HeadProps) => (
  <header>
    <h2 class="hidden">Single entities of the table</h2>
    <fieldset class="filters">
      <legend class="hidden">Show</legend>
      {KINDS.map((each) => (
        <button key={each} type="button" class="filter" aria-pressed={each === kind} onClick={() => onKind(each)}>
          {TITLES[each]} <b>{countText(counts[each])}</b>
        </button>
      ))}
    </fieldset>
    <input
      class="input auto"
      type="search"
      aria-label="Find an ID in this list"
      placeholder="Find an ID"
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  </header>
);

function rowOf(row: MoveRow, since: Since | undefined, isSelected: boolean, onChoose: (id: string) => void) {
  const { id, at } = row;
  return {
    key: id,
    isSelected,
    onClick: () => onChoose(id),
    cells: [
      <>
        <a href={fragmentOf("moves", { id })}>
          <code title={id}>{shortId(id)}</code>
        </a>
        <small>{kindInWords(id)}</small>
      </>,
      <Way key="way" at={at} id={id} />,
      <StepCell key="step" row={row} since={since} />,
      since?.time && <Age row={row} time={since.time} isExact={since.isExact} />,
    ],
  };
}

/** Texts of the ID that was typed, where it is one. */
function formsOf(text: string): readonly string[] {
  if (text.trim() === "") return [];
  const pasted = readOne(text.trim(), reader.value);
  return [pasted.id, ...reader.value.read(pasted, gatewayNow()).forms.map((form) => form.text)];
}

/** `order, Kazakhstan`. */
function kindInWords(id: string): string {
  const chosen = chosenOf(reader.value.read(readOne(id, reader.value), gatewayNow()));
  if (chosen === undefined) return "of no entity of the table";
  const country = countryOf(reader.value, chosen, undefined);
  return [chosen.entity, ...(country === undefined ? [] : [country.name])].join(", ");
}

function Way({ id, at }: { id: string; at: MoveRow["at"] }) {
  if (at.state === "gone") return <span class="soft">nowhere</span>;
  const [from, to] = "from" in at ? [at.from, at.to] : [homeOf(id), at.region];
  return (
    <span class="to">
      {from !== undefined && from !== to && (
        <>
          <RegionChip name={from} />
          <Icon name="arrow" />
        </>
      )}
      <RegionChip name={to ?? ""} />
    </span>
  );
}

const STATES: Readonly<Record<string, string>> = {
  started: "Started",
  fenced: "Fenced",
  moved: "Moved",
  gone: "Gone for ever",
};

function StepCell({ row, since }: { row: MoveRow; since: Since | undefined }) {
  const { id, at } = row;
  const ticked = tickedAt(moveTicks.value, id, at);
  if (at.state === "moved") {
    const epoch = at.epoch === undefined ? "by other means than a move" : `epoch ${at.epoch}`;
    return (
      <>
        {since?.note ? `“${since.note}”` : STATES["moved"]}
        <small>{since ? `${since.author}, revision ${since.revision}, ${epoch}` : epoch}</small>
      </>
    );
  }
  return (
    <>
      <span class="row tight">
        {at.state !== "gone" && <Progress step={stepOf(at)} />}
        <b>{STATES[at.state]}</b>
      </span>
      <small>{waitsFor(row, ticked)}</small>
    </>
  );
}

const Progress = ({ step }: { step: number }) => (
  <span class="prog" role="img" aria-label={`step ${step} of 4`}>
    {[1, 2, 3, 4].map((each) => (
      <i key={each} class={each < step ? "on" : each === step ? "now" : ""} />
    ))}
  </span>
);

function Age({ row, time, isExact }: { row: MoveRow; time: string; isExact: boolean }) {
  const sinceMs = gatewayNow() - Date.parse(time);
  const text = `${isExact ? "" : "at least "}${agoText(time)}`;
  return isLate(row.at, sinceMs) ? (
    <Mark mood="warn" icon="warn">
      <span title={shortTime(time)}>{text}</span>
    </Mark>
  ) : (
    <span class="soft" title={shortTime(time)}>
      {text}
    </span>
  );
}
