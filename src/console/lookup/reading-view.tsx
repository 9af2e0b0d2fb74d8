import { useMemo } from "preact/hooks";
import type { Words } from "../../ids/index.ts";
import type { Candidate } from "../../routing/index.ts";
import { Badge, CopyButton, Facts, Panel } from "../app/parts.tsx";
import { knownTable, mayView } from "../app/session.ts";
import { agoText, countryName, localTime, utcTime } from "../app/words.ts";
import { lineOf } from "../table/positions.ts";
import type { Asked, WholePath } from "./ask.ts";
import { BitStrip } from "./bits.tsx";
import { countryOf } from "./meaning.ts";
import { chosenOf, type Reader, type Reading, wordsOf } from "./reader.ts";
import { pointerOf, ruleInWords } from "./rule-words.ts";

interface Props {
  readonly reader: Reader;
  readonly reading: Reading;
  /** What the gateway said, once it was asked. */
  readonly asked: Asked | undefined;
}

/** Everything that is known of one ID, what people ask first at the top. */
export function ReadingView({ reader, reading, asked }: Props) {
  const decided: Reading = asked?.explanation ?? reading;
  const chosen = chosenOf(decided) ?? chosenOf(reading);
  const layout = chosen && reader.layout(chosen.layout);
  const words = layout && wordsOf(layout, reading.text);
  const country = chosen && countryOf(reader, chosen, words);
  const others = reading.candidates.filter((each) => each !== chosen);
  const title = titleOf(reading, chosen, asked?.whole?.owner);
  return (
    <>
      <Panel title={title} class="reading">
        {chosen && (
          <Facts
            rows={[
              ["Entity", chosen.entity ?? (reader.knows === "nothing" ? "sign in to see it" : "none of the table")],
              country && [
                "Country",
                <>
                  {country.flag !== "" && (
                    <span class="flag" aria-hidden="true">
                      {country.flag}{" "}
                    </span>
                  )}
                  {country.name} <small>({country.from})</small>
                </>,
              ],
              chosen.mintedAt === undefined
                ? undefined
                : [
                    "Minted",
                    <>
                      {localTime(chosen.mintedAt)}
                      <br />
                      <small>
                        {utcTime(chosen.mintedAt)}, {agoText(chosen.mintedAt)}
                      </small>
                    </>,
                  ],
              ["Layout", layout?.table.title ?? chosen.layout],
              ...slicesOf(reader, chosen.layout, words),
            ]}
          />
        )}
        <Destination decided={decided} chosen={chosen} asked={asked} />
        {chosen === undefined && asked?.whole?.region === undefined && <Unclear reading={reading} />}
      </Panel>
      {layout && words && (
        <Panel title="The bits">
          <BitStrip layout={layout} words={words} reader={reader} />
        </Panel>
      )}
      {reading.forms.length > 0 && (
        <Panel title="All texts of this ID">
          <Texts forms={reading.forms} />
        </Panel>
      )}
      {others.length > 0 && (
        <details>
          <summary>Other readings ({others.length})</summary>
          {others.map((each) => (
            <OtherReading key={`${each.layout} ${each.entity} ${each.form}`} candidate={each} />
          ))}
        </details>
      )}
      <details>
        <summary>As JSON</summary>
        <pre class="json">{JSON.stringify(asked?.explanation ?? reading, null, 2)}</pre>
      </details>
    </>
  );
}

const titleOf = (reading: Reading, chosen: Candidate | undefined, owner: string | undefined): string => {
  if (chosen?.entity !== undefined) return `This is ${articleOf(chosen.entity)} ${chosen.entity}`;
  if (chosen !== undefined) return `This reads as ${chosen.layout}`;
  if (reading.publicOf !== undefined) return `This has the form of a public ID of ${reading.publicOf.join(" or ")}`;
  if (owner !== undefined) return `This is a path of ${owner}`;
  return reading.candidates.some(({ excluded }) => !excluded)
    ? "This can be several things"
    : "This is no ID that we know";
};

/** Parts of the key that the table names. */
const slicesOf = (reader: Reader, layout: string, words: Words | undefined) =>
  (words === undefined ? [] : reader.slices(layout, words)).map(({ name, value, isArea }) => {
    const area = isArea && value !== "0" ? ` (${countryName(value)})` : "";
    return [`Slice ${name}`, value + area] as const;
  });

const articleOf = (name: string): string => (/^[aeiou]/i.test(name) ? "an" : "a");

function Destination({
  decided,
  chosen,
  asked,
}: Pick<Props, "asked"> & { decided: Reading; chosen: Candidate | undefined }) {
  const { decision } = decided;
  const line = useRuleLine(decided);
  if (decision === undefined) return asked?.whole === undefined ? null : <OnPath whole={asked.whole} asked={asked} />;
  const { move, shadow, rule } = decision;
  const canary = chosen?.canary;
  const health = asked?.health?.find(({ region }) => region === decision.region);
  return (
    <div class="destination">
      <p class="region">
        Region <strong>{decision.region}</strong> {health && <Badge mood={health.mood}>{health.words}</Badge>}
        {asked === undefined && <small>by the table in this page, revision {knownTable.value?.revision}</small>}
      </p>
      <Facts
        rows={[
          [
            "Why",
            <>
              {ruleInWords(rule, knownTable.value?.declared)}
              {line !== undefined && <small> Line {line} of the table.</small>}
            </>,
          ],
          move && ["Moved", `${MOVES[move.state]} ${move.to}; epoch ${move.epoch}`],
          asked?.explanation.learned && [
            "Learned",
            `An origin said that it is in ${asked.explanation.learned.region}; requests go there first.`,
          ],
          canary && [
            "Canary",
            `${canary.percent} % of such IDs go to ${canary.region}. This one is at ${canary.takesFrom} %, so it ${
              canary.takesFrom <= canary.percent ? "is among them" : "is not among them"
            }.`,
          ],
          shadow && ["Shadow", `${shadow.percent} % of its reads are also sent to ${shadow.region}.`],
          ["Path", <code>{decision.path}</code>],
        ]}
      />
    </div>
  );
}

/** Of a path whose ID says nothing itself: a directory or the request does. */
function OnPath({ whole, asked }: { whole: WholePath; asked: Asked }) {
  const { region, problem, source, owner } = whole;
  if (region === undefined) return problem === undefined ? null : <p class="box warn">{problem.detail}</p>;
  const health = asked.health?.find((each) => each.region === region);
  return (
    <div class="destination">
      <p class="region">
        Region <strong>{region}</strong> {health && <Badge mood={health.mood}>{health.words}</Badge>}
      </p>
      <Facts
        rows={[
          ["Path of", owner ?? "no entity"],
          source === undefined ? undefined : ["Why", `The request says it: ${source}.`],
          ...Object.entries(asked.entry ?? {}).map(([name, value]) => [name, String(value)] as const),
        ]}
      />
    </div>
  );
}

const MOVES = { started: "It is moving to", fenced: "It is moving, for now only read, to", moved: "It moved to" };

/** Where in the table the rule stands. */
function useRuleLine({ decision, forms, text }: Reading): number | undefined {
  const table = mayView.value ? knownTable.value : undefined;
  return useMemo(() => {
    if (table === undefined || decision === undefined) return undefined;
    const texts = [text, ...forms.map((form) => form.text)];
    const { moved = {}, moves = {} } = table.declared;
    const key = texts.find((each) => Object.hasOwn(moved, each) || Object.hasOwn(moves, each)) ?? text;
    return lineOf(table.text, pointerOf(decision.rule, key));
  }, [table, decision, text]);
}

function Unclear({ reading }: { reading: Reading }) {
  const left = reading.candidates.filter(({ excluded }) => !excluded);
  if (left.length > 0) {
    const names = left.map(({ layout, entity }) => (entity === undefined ? layout : `${entity} (${layout})`));
    return <p>It fits {names.join(", ")}. Nothing in the text says which. A whole URL would.</p>;
  }
  if (reading.publicOf !== undefined) return <p>Only the gateway's keys open it. Ask where it goes.</p>;
  const [fault] = reading.unreadable ?? [];
  return (
    <p>
      No layout reads it as a valid ID. Check that the text is whole.
      {fault !== undefined && reading.candidates.length === 0 && (
        <small>
          {" "}
          {fault.layout}: {faultInWords(fault.error)}
        </small>
      )}
    </p>
  );
}

const faultInWords = (error: NonNullable<Reading["unreadable"]>[number]["error"]): string => {
  switch (error.reason) {
    case "length":
      return `it has ${error.actual} characters, and ${error.expected} are right.`;
    case "alphabet":
    case "whitespace":
    case "shape":
      return `character ${error.at + 1} is wrong.`;
    case "fixed-bits":
      return `${error.field} is ${error.actual}, and it is always ${error.expected}.`;
    case "range":
      return `${error.field ?? "the value"} is outside ${error.min} to ${error.max}.`;
    default:
      return "it is empty.";
  }
};

/** Several layouts may share one text. */
function Texts({ forms }: { forms: Reading["forms"] }) {
  const alike = Map.groupBy(forms, ({ form, text }) => `${form} ${text}`);
  return (
    <ul class="texts">
      {[...alike].map(([key, of]) => (
        <li key={key}>
          <span>
            {of[0]?.form} <small>{of.map(({ layout }) => layout).join(", ")}</small>
          </span>
          <code>{of[0]?.text}</code>
          <CopyButton text={of[0]?.text ?? ""} label={`${of[0]?.form} text`} />
        </li>
      ))}
    </ul>
  );
}

const OtherReading = ({ candidate }: { candidate: Candidate }) => (
  <article class="other">
    <h3>
      {candidate.layout}
      {candidate.entity !== undefined && ` of ${candidate.entity}`} {candidate.excluded && <Badge>ruled out</Badge>}
    </h3>
    <ul>
      {candidate.for.map((reason) => (
        <li key={reason} class="for">
          {reason}
        </li>
      ))}
      {candidate.against.map((reason) => (
        <li key={reason} class="against">
          {reason}
        </li>
      ))}
    </ul>
  </article>
);
