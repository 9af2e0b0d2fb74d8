import { useEffect, useMemo, useState } from "preact/hooks";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { Note, PageHead, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { place, setQuery } from "../app/router.ts";
import { knownTable, reader } from "../app/session.ts";
import { readOne } from "../lookup/read-pasted.ts";
import { chosenOf } from "../lookup/reader.ts";
import { MoveList } from "./list.tsx";
import { OneMove } from "./one-move.tsx";
import "../style/changes.css";

/** Single entities that leave their region or have left it, and the move of one, step by step, with what is safe when. */
export default function Moves() {
  const known = knownTable.value;
  const linked = place.value.query.get("id") ?? "";
  const [id, setId] = useState(linked);
  const [isTyped, setTyped] = useState(linked === "");
  /** How often the button asked for an ID: each time the field gets the focus. */
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (linked === "") return;
    setId(linked);
    setTyped(false);
  }, [linked]);
  const choose = (next: string, typed: boolean) => {
    setId(next);
    setTyped(typed);
    setQuery("moves", next.trim() === "" ? {} : { id: next.trim() });
  };
  const ask = () => {
    choose("", true);
    setAsked(asked + 1);
  };
  if (known === undefined) {
    return (
      <>
        <PageHead title="Moves" />
        <section class="sheet">
          <Skeleton label="Loading the table" />
        </section>
      </>
    );
  }
  return (
    <>
      <PageHead title="Moves" text="Single entities that leave their region, or have left it.">
        <Button kind="main" icon="moves" onClick={ask}>
          Move an entity
        </Button>
      </PageHead>
      <div class={`two wide moves-page ${id.trim() !== "" || asked > 0 ? "is-chosen" : ""}`}>
        <MoveList known={known} chosen={id.trim()} onChoose={(next) => choose(next, false)} />
        <div class="pile">
          {isTyped && <WhichEntity key={asked} text={id} isFirst={asked > 0} onText={(text) => choose(text, true)} />}
          {id.trim() !== "" && <Chosen key={id.trim()} text={id.trim()} />}
        </div>
      </div>
    </>
  );
}

interface WhichProps {
  readonly text: string;
  readonly isFirst: boolean;
  readonly onText: (text: string) => void;
}

const WhichEntity = ({ text, isFirst, onText }: WhichProps) => (
  <Sheet title="Which entity" isIn>
    <Field
      label="ID or URL"
      hint="It stays in this browser. For all entities of a kind or a country, change a route instead."
      value={text}
      onInput={onText}
      isFirst={isFirst}
    />
  </Sheet>
);

function Chosen({ text }: { text: string }) {
  const known = knownTable.value;
  const pasted = useMemo(() => readOne(text, reader.value), [text, reader.value]);
  const reading = useMemo(() => reader.value.read(pasted, gatewayNow()), [pasted, known]);
  const chosen = chosenOf(reading);
  if (known === undefined) return null;
  if (chosen?.entity === undefined) {
    return (
      <Note kind="first" title="No entity of the table has this ID">
        Check that the text is whole, or paste the URL that it stands in.
      </Note>
    );
  }
  return <OneMove known={known} pasted={pasted} reading={reading} chosen={chosen} />;
}
