import "../../style/label.css";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Field } from "../../../ids/index.ts";
import type { Candidate } from "../../../routing/index.ts";
import { ownOf } from "../../app/own.ts";
import { Copy } from "../../app/parts/button.tsx";
import { Shape } from "../../app/parts/region.tsx";
import { Mark, Stamp, StateMark } from "../../app/parts/state.tsx";
import { fragmentOf } from "../../app/router.ts";
import { agoText, countryName, isLocalUtc, localTime, utcTime } from "../../app/words.ts";
import type { Asked } from "../ask.ts";
import type { Reader } from "../reader.ts";
import type { IdKnown } from "../verdict/known.ts";
import type { Verdict } from "../verdict/verdict.ts";
import { BitLegend, BitStrip, type LegendEntry, legendOf } from "./bits.tsx";
import { LineLink, PartsText, RevisionLink } from "./links.tsx";
import { countryOf, fieldMeaning } from "./meaning.ts";
import { markedText, type StripOf } from "./strip.ts";

/** An ID as a shipping label: what it is, where it goes and why, and below the perforation its bits. */

interface LabelProps {
  readonly reader: Reader;
  readonly known: IdKnown;
  readonly asked: Asked | undefined;
  readonly actions: ComponentChildren;
  /** Below the perforation. */
  readonly children?: ComponentChildren;
}

export function Label({ reader, known, asked, actions, children }: LabelProps) {
  const id = useId();
  const { verdict } = known;
  return (
    <section class="sheet label-card" aria-labelledby={id}>
      <div class="label-top">
        <What reader={reader} known={known} />
        {asked === undefined ? (
          <Stamp kind="read-here">
            Read here{reader.revision === undefined ? "" : `, revision ${reader.revision}`}
          </Stamp>
        ) : (
          <Stamp kind="confirmed">Confirmed by the gateway</Stamp>
        )}
      </div>
      <div class="verdict">
        <Headline id={id} verdict={verdict} />
        <Because verdict={verdict} asked={asked} />
      </div>
      <div class="label-acts">{actions}</div>
      {children && (
        <>
          <div class="perf" />
          <div class="label-bits">{children}</div>
        </>
      )}
    </section>
  );
}

const MOODS = { goes: "", refused: "bad", "reads-as": "plain", open: "plain" } as const;

/** Longer names are smaller. */
const LONG_CODE = 8;

/** The answer, to be read across a room. */
export function Headline({ id, verdict, isSmall }: { id?: string; verdict: Verdict; isSmall?: boolean }) {
  const { kind, lead, code } = verdict;
  const Heading = isSmall ? "h3" : "h2";
  return (
    <Heading class="answer" {...(id && { id })}>
      <span>{lead} </span>
      <span class={`code ${MOODS[kind]} ${code.length > LONG_CODE ? "long" : ""}`}>
        {kind === "goes" && <Shape region={code} />}
        {code}
      </span>
    </Heading>
  );
}

/** `isSmall`: where the bits say the time. */
export function What(props: Pick<LabelProps, "reader" | "known"> & { isSmall?: boolean }) {
  const { reader, isSmall } = props;
  const { chosen, strip, title } = props.known;
  const country = chosen && countryOf(reader, chosen, strip?.words);
  const minted = chosen?.mintedAt;
  return (
    <div class="what">
      <span>
        <b>{title ?? chosen?.entity ?? chosen?.layout ?? "unknown"}</b>
      </span>
      {strip?.isShort && <span>short key, primary key {chosen?.fields["primaryKey"]}</span>}
      {country && (
        <span>
          {country.flag !== "" && (
            <span class="flag" aria-hidden="true">
              {country.flag}{" "}
            </span>
          )}
          {country.name}
        </span>
      )}
      {minted !== undefined && (
        <>
          {!isSmall && (
            <span>
              minted{" "}
              <time dateTime={minted} title={localTime(minted)}>
                {utcTime(minted.replace(/\.\d+/, ""))}
              </time>
            </span>
          )}
          <span>{agoText(minted)}</span>
        </>
      )}
    </div>
  );
}

function Because({ verdict, asked }: { verdict: Verdict; asked: Asked | undefined }) {
  const { state, because, more } = verdict;
  const health = verdict.kind === "goes" ? ownOf(asked?.health, verdict.code) : undefined;
  return (
    <div class="because">
      {health && (
        <div class="health">
          <StateMark of={health} /> <small class="soft">{health.basis}</small>
        </div>
      )}
      {state && (
        <Mark mood={state.mood} icon={state.mood === "bad" ? "bad" : state.mood === "warn" ? "warn" : "none"}>
          {state.text}
        </Mark>
      )}
      <p>
        <PartsText parts={because} />
      </p>
      {more.map((text) => (
        <p key={text} class="soft">
          {text}
        </p>
      ))}
      <Place verdict={verdict} asked={asked} />
    </div>
  );
}

/** Where it stands in the table, and who wrote it for an entity that moved. */
export function Place({ verdict: { rule, problem }, asked }: { verdict: Verdict; asked: Asked | undefined }) {
  if (rule === undefined) {
    return problem === undefined ? null : (
      <small class="soft">
        The problem is called <code>{problem}</code>
      </small>
    );
  }
  const { number, line, revision } = rule;
  const since = asked?.why?.since ?? undefined;
  const epoch = asked?.explanation.decision?.move?.epoch;
  return (
    <small class="soft">
      {since && (
        <>
          {since.isExact ? "Moved" : "Moved at the latest"}
          {since.time === null ? "" : ` on ${utcTime(since.time)}`} by {since.author} in{" "}
          <RevisionLink revision={since.revision} />
          {epoch === undefined ? "" : `, epoch ${epoch}`}
          {since.note === "" ? "." : `: “${since.note}”`}{" "}
        </>
      )}
      {number !== undefined && `Route ${number}, `}
      {line !== undefined && (
        <>
          <LineLink line={line} isFirst={number === undefined} />
          {revision !== undefined && (
            <>
              {" "}
              of <RevisionLink revision={revision} />
            </>
          )}
        </>
      )}
    </small>
  );
}

export const IdLine = ({ text, of }: { text: string; of: StripOf | undefined }) => (
  <div class="idline">
    <IdText text={text} of={of} />
    <Copy text={text} label="the ID" />
    {of && (
      <small>
        {of.isShort ? "short key of " : "layout "}
        <a href={fragmentOf("layouts", { layout: of.layout.name })}>{of.layout.name}</a>
      </small>
    )}
  </div>
);

/** The text of the ID, with the characters underlined whose bits decide. */
export function IdText({ text, of }: { text: string; of: StripOf | undefined }) {
  const pieces = of === undefined ? [{ text, isMarked: false }] : markedText(of, text);
  return (
    <code class="id">
      {pieces.map((piece, at) =>
        piece.isMarked ? (
          <b key={at} class="on">
            {piece.text}
          </b>
        ) : (
          piece.text
        ),
      )}
    </code>
  );
}

export function Bits({ reader, chosen, of }: { reader: Reader; chosen: Candidate; of: StripOf }) {
  return (
    <>
      <BitStrip of={of} />
      <BitLegend entries={entriesOf(reader, chosen, of)} />
    </>
  );
}

export function entriesOf(reader: Reader, chosen: Candidate, of: StripOf): readonly LegendEntry[] {
  const entries = legendOf(of, (field, value) => wordsOf(reader, chosen, field, of.isShort ? undefined : value));
  const slices = reader.slices(of.layout.name, of.words).map(({ name, value, isArea }): LegendEntry => {
    const area = isArea && value !== "0" ? ` = ${countryName(value)}` : "";
    return { kind: "key", name: `slice ${name}`, value: value + area };
  });
  const keys = entries.filter(({ kind }) => kind === "key").length;
  return [...entries.slice(0, keys), ...slices, ...entries.slice(keys)];
}

function wordsOf(reader: Reader, chosen: Candidate, field: Field, value: string | undefined): ComponentChildren {
  const { entity, mintedAt } = chosen;
  const own = chosen.fields[field.name] ?? value;
  if (field.role === "random") return value === undefined ? "not in a short key" : "no meaning";
  if (field.role === "time" && mintedAt !== undefined) {
    return (
      <>
        {utcTime(mintedAt)}
        {!isLocalUtc && <small>{localTime(mintedAt)}</small>}
      </>
    );
  }
  if (own === undefined) return "not in a short key";
  const isMark = field.name === "service" || field.name === "group";
  if (isMark && entity !== undefined) return `${own} = ${entity}`;
  return fieldMeaning(reader, field, own) ?? own;
}
