import { useMemo } from "preact/hooks";
import type { RuleView } from "../../formats/console-api.ts";
import { tableCanaryInWords } from "../../formats/console-canary.ts";
import { pointerOf } from "../../formats/console-pointers.ts";
import type { Words } from "../../ids/index.ts";
import { LUUID_SHORT } from "../../routing/identity.ts";
import type { Candidate, Rule } from "../../routing/index.ts";
import type { DeclaredRoute } from "../../routing/schema/table.ts";
import { ownOf } from "../app/own.ts";
import { Badge, CopyButton, Facts, Health, Panel } from "../app/parts.tsx";
import { keyed, knownTable, mayView } from "../app/session.ts";
import { agoText, countryName, localTime, utcTime } from "../app/words.ts";
import type { Asked, WholePath } from "./ask.ts";
import { BitStrip } from "./bits.tsx";
import { Keys } from "./keys.tsx";
import { countryOf } from "./meaning.ts";
import { bitsOf, chosenOf, type Reader, type Reading, shortKeyOwners } from "./reader.ts";
import { refusalOf, ruleInWords } from "./rule-words.ts";

interface Props {
  readonly reader: Reader;
  readonly reading: Reading;
  /** The gateway's answer, once it was asked. */
  readonly asked: Asked | undefined;
  /** Another text to look up in its place. */
  readonly onPick: (text: string) => void;
}

/** Everything that is known of one ID, what people ask first at the top. */
export function ReadingView({ reader, reading, asked, onPick }: Props) {
  const decided: Reading = asked?.explanation ?? reading;
  // The explanation of the ID alone decides nothing where its path makes it another one.
  const isPlaced = asked?.whole?.region !== undefined && decided.decision === undefined;
  const chosen = (isPlaced ? undefined : chosenOf(decided)) ?? chosenOf(reading);
  const { layout, words, isShort = false } = chosen === undefined ? {} : bitsOf(reader, chosen, reading.text);
  const country = chosen && countryOf(reader, chosen, words);
  // The gateway's explanation has objects of its own.
  const others = reading.candidates.filter((each) => each.layout !== chosen?.layout || each.entity !== chosen.entity);
  const title = titleOf(reading, chosen, asked);
  return (
    <>
      <Panel title={title} class="reading">
        {chosen && (
          <Facts
            rows={[
              ["Entity", chosen.entity ?? (reader.knows === "nothing" ? "sign in to see it" : "no entity uses it")],
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
              isShort ? ["Primary key", chosen.fields["primaryKey"]] : undefined,
              isShort ? ["Group", chosen.fields["group"]] : undefined,
              ["Layout", `${isShort ? "short key of an " : ""}${layout?.table.title ?? chosen.layout}`],
              ...slicesOf(reader, chosen.layout, words),
            ]}
          />
        )}
        <Destination decided={decided} chosen={chosen} asked={asked} revision={reader.revision} />
        {chosen === undefined && asked?.whole?.region === undefined && !isKey(asked) && (
          <Unclear reader={reader} reading={reading} onPick={onPick} />
        )}
      </Panel>
      {asked?.keys && <Keys keys={asked.keys} text={reading.text} health={asked.health} />}
      {layout && words && (
        <Panel title="The bits">
          <BitStrip layout={layout} words={words} reader={reader} isShort={isShort} />
        </Panel>
      )}
      {reading.forms.length > 0 && (
        <Panel title="All texts of this ID">
          <Texts forms={reading.forms} />
        </Panel>
      )}
      {reading.couldBe && <CouldBe lines={reading.couldBe} />}
      {others.length > 0 && (
        <details class="others">
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

const isKey = (asked: Asked | undefined): boolean => asked?.keys?.some(({ entry }) => entry.ok) === true;

const titleOf = (reading: Reading, chosen: Candidate | undefined, asked: Asked | undefined): string => {
  const owner = asked?.whole?.owner;
  const key = asked?.keys?.find(({ entry }) => entry.ok)?.entity;
  if (chosen?.entity !== undefined) return `This is ${articleOf(chosen.entity)} ${chosen.entity}`;
  if (chosen !== undefined) return `This reads as ${chosen.layout}`;
  const opened = asked?.explanation.publicOf && asked.explanation.decision?.entity;
  if (opened !== undefined) return `This is a public ID of ${opened}`;
  if (reading.publicOf !== undefined) return `This has the form of a public ID of ${reading.publicOf.join(" or ")}`;
  if (key !== undefined) return `This is a key of ${key}`;
  if (owner !== undefined) return `This is a path of ${owner}`;
  if (reading.candidates.some(({ excluded }) => !excluded)) return "This can be several things";
  const owners = shortKeyOwners(reading);
  return owners.length === 0 ? "This is no ID that we know" : `This may be a short key of ${owners.join(" or ")}`;
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
  revision,
}: Pick<Props, "asked"> & { decided: Reading; chosen: Candidate | undefined; revision: number | undefined }) {
  const { decision } = decided;
  const why = useWhy(decided, asked);
  const ofPage = asked === undefined && <small>by the table in this page, revision {revision}</small>;
  const refusal = refusalOf(decided.error?.reason, decided.isUnsure);
  if (decision === undefined) {
    return (
      <>
        {refusal && (
          <p class={`box ${decided.isUnsure ? "warn" : "bad"}`}>
            {refusal} {ofPage}
          </p>
        )}
        {asked !== undefined && <OnPath asked={asked} />}
      </>
    );
  }
  const { move, shadow, rule } = decision;
  const canary = chosen?.canary;
  const tableCanary = asked?.explanation.tableCanary;
  const since = asked?.why?.since ?? undefined;
  return (
    <div class="destination">
      <p class="region">
        Region <strong>{decision.region}</strong> <Health of={ownOf(asked?.health, decision.region)} />
        {ofPage}
      </p>
      <OtherOnPath region={decision.region} whole={asked?.whole} />
      <Facts
        rows={[
          ["Why", <WhyText rule={rule} {...why} />],
          (move !== undefined || since) && [
            "Moved",
            <>
              {move && `${MOVES[move.state]} ${move.to}; epoch ${move.epoch}.`} {since && <SinceText {...since} />}
            </>,
          ],
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
          tableCanary && ["Canary of the table", sentence(tableCanaryInWords(tableCanary))],
          shadow && ["Shadow", `${shadow.percent} % of its reads are also sent to ${shadow.region}.`],
          ["Path", <code>{decision.path}</code>],
        ]}
      />
    </div>
  );
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

/** A URL may say another thing than its ID alone. */
const OtherOnPath = ({ region, whole }: { region: string; whole: WholePath | undefined }) =>
  whole?.problem !== undefined ? (
    <p class="box warn">
      A request on this path is refused: {whole.problem.title}. {whole.problem.detail}
    </p>
  ) : whole?.region !== undefined && whole.region !== region ? (
    <p class="box warn">A request on this path goes to {whole.region}.</p>
  ) : null;

/** For a path whose ID says nothing itself: a directory or the request does. */
function OnPath({ asked }: { asked: Asked }) {
  const { tableCanary: ofId } = asked.explanation;
  const { region, problem, source, owner, tableCanary = ofId } = asked.whole ?? {};
  const { why } = asked;
  const canaryText = tableCanary === undefined ? undefined : sentence(tableCanaryInWords(tableCanary));
  if (region === undefined) {
    return (
      <>
        {problem && <p class="box warn">{problem.detail}</p>}
        {canaryText && <p>{canaryText}</p>}
      </>
    );
  }
  return (
    <div class="destination">
      <p class="region">
        Region <strong>{region}</strong> <Health of={ownOf(asked.health, region)} />
      </p>
      <Facts
        rows={[
          ["Path of", owner ?? "no entity"],
          why && ["Why", <WhyText rule={why.rule} route={routeIn(why)} line={why.line} revision={why.revision} />],
          source === undefined ? undefined : ["Why", `The request says it: ${source}.`],
          why?.since ? ["Moved", <SinceText {...why.since} />] : undefined,
          canaryText === undefined ? undefined : ["Canary of the table", canaryText],
        ]}
      />
    </div>
  );
}

const MOVES = { started: "It is moving to", fenced: "It is moving, for now only read, to", moved: "It moved to" };

const SinceText = ({ time, author, revision, note, isExact }: NonNullable<RuleView["since"]>) => (
  <>
    The table says so {isExact ? "since" : "at least since"} revision {revision}
    {time !== null && `, on ${localTime(time)} (${utcTime(time)})`}, by {author}.{note !== "" && ` Note: ${note}`}
  </>
);

interface Why {
  readonly route: DeclaredRoute | undefined;
  readonly line: number | null | undefined;
  readonly revision: number | undefined;
}

const WhyText = ({ rule, route, line, revision }: Why & { rule: Rule }) => (
  <>
    {ruleInWords(rule, route)}
    {typeof line === "number" && (
      <small>
        {" "}
        Line {line} of the table, revision {revision}.
      </small>
    )}
  </>
);

/** A rule of a route has the route as its entry. */
const routeIn = ({ rule, entry }: RuleView): DeclaredRoute | undefined =>
  rule.kind === "route" || rule.kind === "canary" ? (entry as DeclaredRoute) : undefined;

/** The deciding rule and where it stands: of the table in this page, unless the gateway decided by another one. */
function useWhy({ decision, forms, text }: Reading, asked: Asked | undefined): Why {
  const known = mayView.value ? knownTable.value : undefined;
  const table = asked === undefined || asked.revision === known?.revision ? known : undefined;
  return useMemo(() => {
    if (asked?.why !== undefined) {
      const { line, revision } = asked.why;
      return { route: routeIn(asked.why), line, revision };
    }
    const revision = table?.revision;
    if (table === undefined || decision === undefined) return { route: undefined, line: undefined, revision };
    const texts = [text, ...forms.map((form) => form.text)];
    const { moved = {}, moves = {}, routes } = table.declared;
    const key = texts.find((each) => Object.hasOwn(moved, each) || Object.hasOwn(moves, each)) ?? text;
    const line = table.lineOf(pointerOf(decision.rule, key));
    const index = "index" in decision.rule ? decision.rule.index : undefined;
    return { route: index === undefined ? undefined : routes[index], line, revision };
  }, [table, decision, text, asked?.why]);
}

function Unclear({ reader, reading, onPick }: Pick<Props, "reader" | "reading" | "onPick">) {
  const left = reading.candidates.filter(({ excluded }) => !excluded);
  if (left.length > 0) {
    const names = left.map(({ layout, entity }) => (entity === undefined ? layout : `${entity} (${layout})`));
    return <p>It fits {names.join(", ")}. Nothing in the text says which. A whole URL would.</p>;
  }
  if (reading.publicOf !== undefined) return <p>Only the gateway's keys open it. Ask where it goes.</p>;
  const [fault] = reading.unreadable ?? [];
  const ofKeys = [...new Set(keyed.value.map(({ entity }) => entity))];
  const keyText = ofKeys.length > 0 && ` It may be a key of ${ofKeys.join(" or ")}: the gateway can tell.`;
  const paths = shortKeyOwners(reading).flatMap((entity) => reader.ownPath(entity, LUUID_SHORT, reading.text) ?? []);
  if (paths.length > 0) {
    return (
      <>
        <p>It is no whole ID. Only a path says that a short key is meant.{keyText}</p>
        <div class="actions">
          {paths.map((path) => (
            <button type="button" key={path} onClick={() => onPick(path)}>
              Read it as {path}
            </button>
          ))}
        </div>
      </>
    );
  }
  return (
    <p>
      No layout reads it as a valid ID. Check that the text is whole.
      {keyText}
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
/** Texts of libraries: a table reads them once it declares them. */
function CouldBe({ lines }: { lines: NonNullable<Reading["couldBe"]> }) {
  return (
    <Panel title="In a table that declares it, it could be">
      <ul>
        {lines.map(({ what, layout, text, declared }) => (
          <li key={what + layout}>
            {what}: {layout}, <code>{text}</code> <CopyButton text={declared} label={`layout of ${what}`} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

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
