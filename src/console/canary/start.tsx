import { useState } from "preact/hooks";
import { audienceInWords } from "../../formats/console-canary.ts";
import type { Audience } from "../../formats/table-api.ts";
import { Button, Segments } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { Sheet } from "../app/parts/sheet.tsx";
import { fragmentOf, place } from "../app/router.ts";
import { knownTable } from "../app/session.ts";
import type { Change } from "../publish/confirm-change.tsx";
import { tableIn } from "../routing/check-text.ts";
import { discardDraft } from "../routing/draft.ts";
import { type Running, started } from "./ends.ts";
import { shareIn } from "./figures.ts";
import { Shares } from "./shares.tsx";

type Kind = "share" | "countries" | "entities";

interface Props {
  /** The draft. */
  readonly text: string;
  readonly running: Running | null;
  readonly onChange: (change: Change) => void;
}

/** The draft as a canary: for whom, then a look at the difference. */
export function StartCanary({ text, running, onChange }: Props) {
  const known = knownTable.value;
  const [kind, setKind] = useState<Kind>("share");
  const [share, setShare] = useState(shareIn(place.value.query.get("share") ?? "") ?? running?.share ?? 5);
  const [names, setNames] = useState("");
  if (known === undefined) return null;
  const table = tableIn(text);
  const list = names.split(/[\s,]+/).filter((name) => name !== "");
  const audience: Audience =
    kind === "share" ? { share } : kind === "countries" ? { countries: list } : { entities: list };
  const start = () => {
    if (table === undefined) return;
    const change = started({ text, table, audience, known, running });
    onChange({
      ...change,
      send: async (note) => {
        const sent = await change.send(note);
        if (sent.ok) discardDraft();
        return sent;
      },
    });
  };
  const because =
    table === undefined
      ? "The draft has faults; correct them first."
      : kind !== "share" && list.length === 0
        ? `Name ${kind === "countries" ? "a country" : "an entity"} first.`
        : undefined;
  return (
    <Sheet
      title={running === null ? "Your draft as a canary" : "Replace it by your draft"}
      aside={<a href={fragmentOf("editor")}>The draft</a>}
      isIn
      footer={
        <>
          <span>For {kind === "share" || list.length > 0 ? audienceInWords(audience) : "whom?"}</span>
          <Button kind="main" disabledBecause={because} onClick={start}>
            Look at the difference
          </Button>
        </>
      }
    >
      <div class="pile small">
        <Segments
          label="For"
          value={kind}
          options={[
            ["share", "A share"],
            ["countries", "Countries"],
            ["entities", "Entities"],
          ]}
          onChange={setKind}
        />
        {kind === "share" ? (
          <>
            <Shares value={share} verb="Take" onChoose={setShare} />
            <p class="soft small-text">Chosen by a hash of the ID: who is in, stays in when the share grows.</p>
          </>
        ) : (
          <Field
            label={kind === "countries" ? "Country codes" : "Entities"}
            hint={
              kind === "countries"
                ? "Such as KZ, UZ. They may differ from other IDs anyway: the verdict cannot tell that."
                : "Such as order, ride. They may differ from other IDs anyway: the verdict cannot tell that."
            }
            value={names}
            onInput={setNames}
          />
        )}
      </div>
    </Sheet>
  );
}
