import { gatewayNow } from "../app/clock.ts";
import { Icon, type IconName } from "../app/parts/icons.tsx";
import { Sheet } from "../app/parts/sheet.tsx";
import { Table } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { keyed, reader } from "../app/session.ts";
import { type LookedUp, lookedUp } from "../app/typed.ts";
import { agoText } from "../app/words.ts";
import { keyPath } from "./ask.ts";
import { AskAtOnce, take } from "./ask-bar.tsx";
import { GoesTo } from "./goes-to.tsx";
import { countryOf } from "./label/meaning.ts";
import { PASTED_MAX, type Pasted } from "./read-pasted.ts";
import type { Reader } from "./reader.ts";
import type { IdKnown } from "./verdict/known.ts";

/** Nothing was pasted yet: what can be, and what was looked up before. */

export const Hero = () => (
  <div class="hero">
    <h1>Where does this ID go?</h1>
    <p>Paste what you have. The region, the reason and the line of the table come back at once.</p>
  </div>
);

export function EmptyPage() {
  return (
    <>
      <div class="under">
        <span>
          <Icon name="lock" /> Read in this browser. Nothing is sent until you ask the gateway.
        </span>
        <AskAtOnce />
        <span>Or paste anywhere, without a click</span>
      </div>
      <div class="pile">
        <Ways />
        {lookedUp.value.length > 0 && <Recent rows={lookedUp.value} />}
      </div>
    </>
  );
}

/** An iUID, of which most tables have some. */
const EXAMPLE = "0192f0c1-7a30-8005-8040-8f3b2a1c9d78";

interface Way {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
  /** A text to see read; absent: there is none without the keys of the gateway. */
  readonly example?: string | undefined;
  readonly shown?: string;
}

function waysNow(): readonly Way[] {
  const { example } = reader.value;
  const { id = EXAMPLE, path } = example ?? {};
  const [key] = keyed.value;
  return [
    { icon: "look-up", title: "ID", text: "In any of its texts", example: id },
    { icon: "link", title: "URL or path", text: "Also says what the request would get", example: path ?? `/any/${id}` },
    {
      icon: "key",
      title: "Short key, or key of a directory",
      text: "On its path, such as a shop's name",
      example: key === undefined ? undefined : keyPath(key, "green-tea"),
    },
    { icon: "shield", title: "Public ID", text: "The gateway opens it with its keys" },
    {
      icon: "layouts",
      title: "List or CSV",
      text: `Up to ${PASTED_MAX.toLocaleString()}; the column is found`,
      example: `ticket,id,comment\n4711,${id},late\n4712,${id.slice(0, -1)},copied badly`,
      shown: "ticket,id,comment",
    },
    {
      icon: "cross",
      title: "Something else",
      text: "Then you are told what is wrong with it",
      example: id.slice(0, -1),
    },
  ];
}

const Ways = () => (
  <Sheet title="What can be pasted" aside={<p>Choose one to see it read</p>}>
    <ul class="ways">
      {waysNow().map(({ icon, title, text, example, shown }) => (
        <li key={title}>
          <h3>
            <Icon name={icon} />
            {title}
          </h3>
          <p>{text}</p>
          {example !== undefined && (
            <button type="button" class="btn quiet small" onClick={() => take(example)}>
              <code>{shown ?? example}</code>
            </button>
          )}
        </li>
      ))}
    </ul>
  </Sheet>
);

const Recent = ({ rows }: { rows: readonly LookedUp[] }) => (
  <Sheet title="Looked up in this tab" aside={<p>Forgotten when you close it</p>} class="below">
    <Table
      label="IDs looked up in this tab"
      class="rows ids"
      columns={[
        { name: "ID", class: "c-id" },
        { name: "Is", class: "c-what", isPlain: true },
        { name: "Goes to", class: "c-to", isPlain: true },
        { name: "When", class: "c-time", isPlain: true },
      ]}
      rows={rows.map(({ source, what, kind, code, atMs }) => ({
        key: source,
        cells: [
          <a key="id" href={fragmentOf("look-up", { id: source })}>
            <code>{source}</code>
          </a>,
          what,
          <GoesTo key="to" kind={kind} code={code} />,
          agoText(atMs),
        ],
      }))}
    />
  </Sheet>
);

const KEPT_MAX = 10;

/** Remembers an ID that was shown, as it was known last. */
export function noteLookedUp({ source }: Pasted, known: IdKnown, reader: Reader): void {
  const { kind, code, rule } = known.verdict;
  const what = whatOf(known, reader) + (rule?.rule.kind === "moved" ? ", moved" : "");
  const others = lookedUp.peek().filter((each) => each.source !== source);
  lookedUp.value = [{ source, what, kind, code, atMs: gatewayNow() }, ...others].slice(0, KEPT_MAX);
}

/** An ID in a row: `order, Kazakhstan`. */
export function whatOf({ chosen, strip, title }: IdKnown, reader: Reader): string {
  const country = chosen && countryOf(reader, chosen, strip?.words)?.name;
  const own = title ?? chosen?.entity ?? chosen?.layout ?? "no ID";
  return country === undefined ? own : `${own}, ${country}`;
}
