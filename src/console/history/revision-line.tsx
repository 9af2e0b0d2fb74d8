import { audienceInWords } from "../../formats/console-canary.ts";
import type { Status, TableRevision } from "../../formats/table-api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Tag } from "../app/parts/state.tsx";
import { momentText, shareText } from "../overview/plot/words.ts";
import { FromTo, Said } from "../publish/words/said.tsx";
import type { Summary } from "./summaries.ts";

interface Props {
  readonly of: TableRevision;
  readonly inForce: number | undefined;
  readonly canary: Status["canary"];
  readonly summary: Summary | undefined;
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly onPick: (side: "from" | "to", revision: number) => void;
}

/** A revision, with a place to pick it from at either side. */
export function RevisionLine({ of, inForce, canary, summary, from, to, onPick }: Props) {
  const { revision, note, time, author, kind } = of;
  const isPicked = revision === from || revision === to;
  const when = time === undefined ? "with the code" : momentText(Date.parse(time), gatewayNow());
  return (
    <li class={isPicked ? "rev on" : "rev"}>
      {(["from", "to"] as const).map((side) => (
        <label key={side} class="check">
          <span class="hidden">
            Compare {side} {revision}
          </span>
          <input
            type="radio"
            name={side}
            checked={revision === (side === "from" ? from : to)}
            onChange={() => onPick(side, revision)}
          />
        </label>
      ))}
      <span class="n">{revision}</span>
      <div>
        <p>
          {note === "" ? <span class="soft">No note</span> : note}{" "}
          {revision === inForce && <Tag kind="ink">in force</Tag>}
          {revision === canary?.revision && <Tag kind="dashed">canary, {audienceInWords(canary)}</Tag>}
          {kind === "canary" && revision !== canary?.revision && <Tag kind="line">canary, ended</Tag>}
          {kind === "rollback" && of.basedOn !== undefined && <Tag kind="line">to {of.basedOn}</Tag>}
          {kind === "promote" && of.basedOn !== undefined && <Tag kind="line">canary {of.basedOn} for all</Tag>}
        </p>
        <SummaryLine of={summary} />
        <small>
          {when} by {author}
          {kind !== "publish" && kind !== "bundled" && `, ${kind}`}
        </small>
      </div>
    </li>
  );
}

const ARROWS_MAX = 2;

function SummaryLine({ of }: { of: Summary | undefined }) {
  if (of === undefined) return null;
  if (of === "large") return <small>A large table: compare it to see the change</small>;
  if (of === "unreadable") return <small>Not valid for this version</small>;
  const { ways, entities, parts } = of.changes;
  const arrows = new Map(ways.map((way) => [`${way.from.words} ${way.to.words}`, way]));
  const share = of.effect?.share;
  const isBound = of.effect?.ways.some((way) => way === undefined || way.isBound) === true;
  const [part] = parts;
  if (arrows.size === 0 && entities.length === 0) {
    return (
      <small>
        No ID goes elsewhere
        {part && (
          <>
            : <Said words={part.words} /> {part.how}
          </>
        )}
      </small>
    );
  }
  return (
    <small>
      {[...arrows.values()].slice(0, ARROWS_MAX).map((way, at) => (
        <FromTo key={at} from={way.from} to={way.to} />
      ))}
      {arrows.size > ARROWS_MAX && `and ${arrows.size - ARROWS_MAX} more `}
      {arrows.size > 0 && share !== undefined && ` ${isBound ? "at most " : ""}${shareText(share)} of requests`}
      {entities.slice(0, 1).map((own) => (
        <>
          {own.title}: <FromTo key="entity" from={own.from} to={own.to} />
        </>
      ))}
    </small>
  );
}
