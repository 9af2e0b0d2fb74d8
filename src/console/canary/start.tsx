import { useMemo, useState } from "preact/hooks";
import { audienceInWords } from "../../formats/console-canary.ts";
import type { Audience } from "../../formats/table-api.ts";
import { Button, Segments } from "../app/parts/button.tsx";
import { Field } from "../app/parts/fields.tsx";
import { Note, Sheet } from "../app/parts/sheet.tsx";
import { fragmentOf, place } from "../app/router.ts";
import type { KnownTable } from "../app/session.ts";
import type { Change } from "../publish/confirm-change.tsx";
import { openPublish } from "../publish/open.ts";
import { tableIn } from "../routing/check-text.ts";
import { discardDraft, type TableDraft } from "../routing/draft.ts";
import { type Running, started } from "./ends.ts";
import { shareIn } from "./figures.ts";
import { Shares } from "./shares.tsx";

type Kind = "share" | "countries" | "entities";

interface Props {
  readonly draft: TableDraft;
  /** The table in force. */
  readonly known: KnownTable;
  readonly running: Running | null;
  readonly onChange: (change: Change) => void;
}

/** Those who get it, as they are written. */
interface Whom {
  readonly kind: Kind;
  readonly share: number;
  readonly names: string;
}

const listOf = ({ names }: Whom): readonly string[] => names.split(/[\s,]+/).filter((name) => name !== "");

/** `undefined` where no name is written. */
function audienceOf(whom: Whom): Audience | undefined {
  if (whom.kind === "share") return { share: whom.share };
  const list = [...listOf(whom)];
  if (list.length === 0) return undefined;
  return whom.kind === "countries" ? { countries: list } : { entities: list };
}

function whyNot(isOld: boolean, isSound: boolean, isNamed: boolean, { kind }: Whom): string | undefined {
  if (isOld) return "Put your lines on the newest revision first.";
  if (!isSound) return "The draft has faults; correct them first.";
  return isNamed ? undefined : `Name ${kind === "countries" ? "a country" : "an entity"} first.`;
}

/** The draft as a canary: for whom, then a look at the difference. */
export function StartCanary({ draft, known, running, onChange }: Props) {
  const [whom, setWhom] = useState<Whom>({
    kind: "share",
    share: shareIn(place.value.query.get("share") ?? "") ?? running?.share ?? 5,
    names: "",
  });
  const { text, baseRevision } = draft;
  const isOld = baseRevision !== known.revision;
  const table = useMemo(() => tableIn(text), [text]);
  const audience = audienceOf(whom);
  const start = () => {
    if (table === undefined || audience === undefined) return;
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
  const because = whyNot(isOld, table !== undefined, audience !== undefined, whom);
  return (
    <Sheet
      title={running === null ? "Your draft as a canary" : "Replace it by your draft"}
      aside={<a href={fragmentOf("editor")}>The draft</a>}
      isIn
      footer={
        <>
          <span>For {audience === undefined ? "whom?" : audienceInWords(audience)}</span>
          <Button kind="main" disabledBecause={because} onClick={start}>
            Look at the difference
          </Button>
        </>
      }
    >
      {isOld && (
        <Note
          kind="first"
          isAlert
          title={`Revision ${known.revision} was published since`}
          actions={<Button onClick={openPublish}>Review and publish</Button>}
        >
          Your draft began with {baseRevision}: as it is, it would take that change back. The review puts both together.
        </Note>
      )}
      <ForWhom whom={whom} onChange={setWhom} />
    </Sheet>
  );
}

const MAY_DIFFER = "They may differ from other IDs anyway: the verdict cannot tell that.";

const ForWhom = ({ whom, onChange }: { whom: Whom; onChange: (whom: Whom) => void }) => (
  <div class="pile small">
    <Segments
      label="For"
      value={whom.kind}
      options={[
        ["share", "A share"],
        ["countries", "Countries"],
        ["entities", "Entities"],
      ]}
      onChange={(kind) => onChange({ ...whom, kind })}
    />
    {whom.kind === "share" ? (
      <>
        <Shares value={whom.share} verb="Take" onChoose={(share) => onChange({ ...whom, share })} />
        <p class="soft small-text">Chosen by a hash of the ID: who is in, stays in when the share grows.</p>
      </>
    ) : (
      <Field
        label={whom.kind === "countries" ? "Country codes" : "Entities"}
        hint={`Such as ${whom.kind === "countries" ? "KZ, UZ" : "order, ride"}. ${MAY_DIFFER}`}
        value={whom.names}
        onInput={(names) => onChange({ ...whom, names })}
      />
    )}
  </div>
);
