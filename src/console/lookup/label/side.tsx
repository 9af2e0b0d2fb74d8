import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { audienceInWords, tableCanaryInWords } from "../../../formats/console-canary.ts";
import type { Candidate } from "../../../routing/index.ts";
import type { Force } from "../../app/force.ts";
import { Copy } from "../../app/parts/button.tsx";
import { Icon } from "../../app/parts/icons.tsx";
import { RegionChip } from "../../app/parts/region.tsx";
import { Note, Sheet } from "../../app/parts/sheet.tsx";
import { Tag } from "../../app/parts/state.tsx";
import { Ladder, type Rung as ShownRung } from "../../app/parts/table.tsx";
import { type KnownTable, mayView, session } from "../../app/session.ts";
import { askRouteRevisions, routeRevisions } from "../answers.ts";
import type { Asked } from "../ask.ts";
import type { Reading, RungInWords } from "../reader.ts";
import type { IdKnown } from "../verdict/known.ts";
import { LineLink, RevisionLink } from "./links.tsx";

/** Beside the label: why not another region, other texts of the ID, other readings of the text. */

interface SideProps {
  readonly known: IdKnown;
  readonly asked: Asked | undefined;
  /** The canary of the table that runs now, if one does. */
  readonly canary: Force["canary"];
}

export function Side({ known, asked, canary }: SideProps) {
  const { reading, chosen } = known;
  // The gateway's explanation has objects of its own.
  const others = reading.candidates.filter((each) => each.layout !== chosen?.layout || each.entity !== chosen.entity);
  const path = (asked?.explanation ?? reading).decision?.path;
  return (
    <>
      <Why known={known} asked={asked} canary={canary} />
      {known.verdict.kind === "refused" && isMidnight(chosen?.mintedAt) && (
        <Note kind="first" title="Minted at midnight exactly" isTop>
          IDs that were made up by hand often look so. Check where it comes from first.
        </Note>
      )}
      {session.value && !mayView.value && (
        <Sheet title="What you may see" isIn>
          <p class="soft">
            Your role, <b>{session.value.scope}</b>, reads IDs and asks where they go. Routes, history and figures are
            for viewers.
          </p>
        </Sheet>
      )}
      {reading.forms.length > 0 && (
        <Sheet title="Same ID, other texts">
          <Texts forms={reading.forms} path={path} />
        </Sheet>
      )}
      {reading.couldBe && <CouldBe lines={reading.couldBe} />}
      <Sheet title="More" class="more">
        {others.length > 0 && (
          <details class="others">
            <summary>
              Other readings <span class="faint">{othersText(others)}</span>
            </summary>
            {others.map((each) => (
              <OtherReading key={`${each.layout} ${each.entity} ${each.form}`} candidate={each} />
            ))}
          </details>
        )}
        <AsJson value={asked?.explanation ?? reading} />
      </Sheet>
    </>
  );
}

const isMidnight = (minted: string | undefined): boolean => minted !== undefined && /T00:00:00(?:\.0+)?Z$/.test(minted);

function othersText(others: readonly Candidate[]): string {
  const out = others.filter(({ excluded }) => excluded).length;
  return out === others.length ? `${out}, ruled out` : `${others.length}, ${out} ruled out`;
}

function AsJson({ value }: { value: object }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <details>
      <summary>
        As JSON <span class="faint">for a ticket</span>
      </summary>
      <Copy text={text} label="the JSON" name="Copy" kind="plain" />
      <pre class="json">{text}</pre>
    </details>
  );
}

function Why({ known, asked, canary }: SideProps) {
  const { ladder, table, verdict } = known;
  const running = canaryRung(asked, canary);
  useEffect(() => {
    if (table !== undefined) void askRouteRevisions(table.revision);
  }, [table?.revision]);
  const isDecided = asked?.explanation.tableCanary?.decides === true;
  if (ladder === undefined || table === undefined) {
    if (running === undefined) return null;
    return (
      <Sheet title={verdict.kind === "goes" ? `Why ${verdict.code}` : "What decides"}>
        <Ladder rungs={[running]} />
      </Sheet>
    );
  }
  const rungs = ladder.map(
    (rung, at): ShownRung => ({
      key: at,
      is: IS[rung.kind],
      text: rung.text,
      small: <Small rung={rung} table={table} />,
      aside: rung.region !== undefined && <RegionChip name={rung.region} />,
    }),
  );
  return (
    <Sheet title={verdict.kind === "goes" ? `Why ${verdict.code}, and not another region` : "Why no region"}>
      <Ladder
        rungs={[...(isDecided && running ? [running] : []), ...rungs, ...(!isDecided && running ? [running] : [])]}
      />
    </Sheet>
  );
}

const IS = { miss: "passed", hit: "took", off: "not-reached", stop: "stopped" } as const;

/** Where the deciding rule stands, and since when it says so. */
function Small({ rung, table }: { rung: RungInWords; table: KnownTable }) {
  const { kind, pointer, small } = rung;
  const line = kind !== "hit" || pointer === undefined ? undefined : table.lineOf(pointer);
  const revisions = routeRevisions.value;
  const isSame = revisions?.revision === table.revision;
  const since = isSame ? revisions?.routes.find((each) => each.pointer === pointer)?.since : undefined;
  return (
    <>
      {line !== undefined && <LineLink line={line} isFirst />}
      {line !== undefined && since && (
        <>
          , unchanged {since.isExact ? "since" : "at least since"} <RevisionLink revision={since.revision} />
        </>
      )}
      {line !== undefined && small !== "" && ". "}
      {small}
    </>
  );
}

/** A canary of the table decides about some IDs: before the gateway is asked, it is not known about which. */
function canaryRung(asked: Asked | undefined, running: SideProps["canary"]): ShownRung | undefined {
  const view = asked?.explanation.tableCanary ?? asked?.whole?.tableCanary;
  if (view !== undefined) {
    const words = tableCanaryInWords(view);
    return {
      key: "canary",
      is: view.decides ? "took" : "passed",
      text: `Canary ${view.revision}, ${audienceInWords(view.audience)}`,
      small: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
    };
  }
  if (running === undefined || asked !== undefined) return undefined;
  return {
    key: "canary",
    is: "not-reached",
    text: `Canary ${running.revision}, ${running.percent === undefined ? running.words : `${running.percent} % of the IDs`}`,
    small: "The gateway knows whether it decides about this ID: ask",
  };
}

function Texts({ forms, path }: { forms: Reading["forms"]; path: string | undefined }) {
  const alike = Map.groupBy(forms, ({ form, text }) => `${form} ${text}`);
  const isOneLayout = new Set(forms.map(({ layout }) => layout)).size === 1;
  const texts = [
    ...[...alike.values()].map((of) => ({
      form: of[0]?.form ?? "",
      layouts: isOneLayout ? "" : [...new Set(of.map(({ layout }) => layout))].join(", "),
      text: of[0]?.text ?? "",
    })),
    ...(path === undefined ? [] : [{ form: "path", layouts: "", text: path }]),
  ];
  return (
    <ul class="texts">
      {texts.map(({ form, layouts, text }) => (
        <li key={`${form} ${text}`}>
          <span>
            {form} {layouts !== form && layouts}
          </span>
          <code>{text}</code>
          <Copy text={text} label={form} />
        </li>
      ))}
    </ul>
  );
}

/** Texts of libraries: a table reads them once it declares them. */
const CouldBe = ({ lines }: { lines: NonNullable<Reading["couldBe"]> }) => (
  <Sheet title="In a table that declares it, it could be">
    <ul class="texts">
      {lines.map(({ what, layout, text, declared }) => (
        <li key={what + layout}>
          <span>
            {what}: {layout}
          </span>
          <code>{text}</code>
          <Copy text={declared} label={`layout of ${what}`} />
        </li>
      ))}
    </ul>
  </Sheet>
);

const OtherReading = ({ candidate }: { candidate: Candidate }) => (
  <article class="other">
    <h3>
      {candidate.layout}
      {candidate.entity !== undefined && ` of ${candidate.entity}`} {candidate.excluded && <Tag>ruled out</Tag>}
    </h3>
    <ul>
      <Reasons icon="check" words="For: " reasons={candidate.for} />
      <Reasons icon="cross" words="Against: " reasons={candidate.against} />
    </ul>
  </article>
);

const Reasons = (props: { icon: "check" | "cross"; words: string; reasons: readonly string[] }): ComponentChildren =>
  props.reasons.map((reason) => (
    <li key={reason}>
      <Icon name={props.icon} />
      <span>
        <span class="hidden">{props.words}</span>
        {reason}
      </span>
    </li>
  ));
