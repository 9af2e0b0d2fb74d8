import { useMemo } from "preact/hooks";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { gatewayNow } from "../app/clock.ts";
import { Icon } from "../app/parts/icons.tsx";
import { RegionChip, regionClass } from "../app/parts/region.tsx";
import { Note } from "../app/parts/sheet.tsx";
import { regionNames } from "../app/session.ts";
import { countText, plural } from "../app/words.ts";
import { rateText as rateOf, shareText } from "../overview/plot/words.ts";
import { type ChangesInWords, changesInWords, type EntityWay, type Way } from "./diff-words.ts";
import { type Effect, effectOf, type Overload, type RegionShare, type WayShare } from "./requests/effect.ts";
import { useFigures } from "./requests/figures.ts";
import type { PartLine } from "./words/part-words.ts";
import { FromTo, Said } from "./words/said.tsx";
import "../style/publish.css";

const WAYS_MAX = 100;
const NAMES = ["now", "after"] as const;
const UNCOUNTED = "How many requests these are is not known: none were counted in the last hour.";

interface Props {
  readonly changes: ChangesInWords;
  /** `undefined`: nothing was counted. */
  readonly effect: Effect | undefined;
  readonly isBoxed?: boolean;
  /** Shares without rates: of a revision that is in force no more. */
  readonly isPast?: boolean;
  /** Why nothing is counted. */
  readonly uncounted?: string;
  readonly names?: readonly [before: string, after: string];
}

/** A change in words, with its requests. */
export function ChangesView({ changes, effect, isBoxed, isPast, uncounted = UNCOUNTED, names = NAMES }: Props) {
  if (changes.isEmpty) return <p class="soft">The two say the same, and treat every ID alike.</p>;
  const { ways, entities, parts, warnings } = changes;
  return (
    <>
      {warnings.map((warning) => (
        <Note key={warning} kind="first" title="A step of a move is undone">
          {warning}
        </Note>
      ))}
      <ul class={isBoxed ? "diff boxed" : "diff"}>
        {ways.slice(0, WAYS_MAX).map((way, at) => (
          <WayLine key={at} way={way} share={effect?.ways[at]} isPast={isPast === true} />
        ))}
        {ways.length > WAYS_MAX && (
          <li>{plural(ways.length - WAYS_MAX, "more way", "more ways")} of IDs are not listed.</li>
        )}
        {ways.length === 0 && entities.length === 0 && (
          <li>
            <Icon name="info" />
            <p>No ID goes elsewhere.</p>
          </li>
        )}
        {entities.map((line, at) => (
          <EntityLine key={at} line={line} />
        ))}
        {parts.map((line, at) => (
          <PartOf key={at} line={line} />
        ))}
      </ul>
      {ways.length > 0 && effect && <Shares effect={effect} names={names} />}
      {ways.length > 0 && effect === undefined && <p class="soft small-text uncounted">{uncounted}</p>}
    </>
  );
}

function WayLine({ way, share, isPast }: { way: Way; share: WayShare | undefined; isPast: boolean }) {
  const isRemoved = typeof way.before === "number" && way.after === undefined;
  return (
    <li>
      <Icon name={way.title.startsWith("New") ? "plus" : isRemoved ? "cross" : "pencil"} />
      <div>
        <p>
          {way.title}: <Said words={way.words} />
        </p>
        <FromTo from={way.from} to={way.to} />
        {way.kinds.length > 3 && (
          <details>
            <summary>All {countText(way.kinds.length)} kinds of keys</summary>
            <ul class="kinds">
              {way.kinds.slice(0, WAYS_MAX).map((words, at) => (
                <li key={at}>
                  <Said words={words} />
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      {share ? (
        <div class="num">
          <b>
            {share.isBound && "at most "}
            {isPast ? shareText(share.share) : rateText(share.perSecond)}
          </b>
          <small>
            {!isPast && share.isBound && "at most "}
            {!isPast && shareText(share.share)} of all{isPast && " requests"}
          </small>
        </div>
      ) : (
        way.before === undefined && <small class="soft">No route takes them now: not counted</small>
      )}
    </li>
  );
}

const EntityLine = ({ line }: { line: EntityWay }) => (
  <li>
    <Icon name="moves" />
    <div>
      <p>
        <b>{line.title}</b>
        {line.ids.length > 0 && ": "}
        {line.ids.map((id, at) => (
          <>
            {at > 0 && ", "}
            <code>{id}</code>
          </>
        ))}
      </p>
      <FromTo from={line.from} to={line.to} />
    </div>
  </li>
);

const HOW = {
  added: ["plus", "is new"],
  removed: ["cross", "is removed"],
  changed: ["pencil", "changed"],
} as const;

const PartOf = ({ line: { how, words, detail } }: { line: PartLine }) => (
  <li>
    <Icon name={HOW[how][0]} />
    <div>
      <p>
        <Said words={words} /> {HOW[how][1]}
      </p>
      {detail && <small class="soft">{detail}</small>}
    </div>
  </li>
);

/** `907 requests / s`; slow ones by the hour. */
export const rateText = (perSecond: number): string =>
  perSecond >= 0.1 || perSecond === 0
    ? `${rateOf(perSecond)} requests / s`
    : `${plural(Math.round(perSecond * 3_600), "request")} / h`;

function Shares({ effect, names }: { effect: Effect; names: readonly [string, string] }) {
  const { overloads } = effect;
  const regions = effect.regions.toSorted((a, b) => orderOf(a.region) - orderOf(b.region));
  return (
    <div class="cols shares">
      <div>
        <h3 class="hidden">Share of all requests</h3>
        <div class="ba" aria-hidden="true">
          <span>{names[0]}</span>
          <Stack parts={regions.map(({ region, before }) => [region, before])} />
          <span>{names[1]}</span>
          <Stack parts={regions.map((own) => [own.region, shownShare(own)])} />
        </div>
        <ul class="ba-key">
          {regions.map((own) => (
            <li key={own.region}>
              <RegionChip name={own.region} /> <ShareText of={own} />
            </li>
          ))}
        </ul>
      </div>
      <div>
        {overloads.map((own) => (
          <OverloadLine key={own.region} of={own} />
        ))}
      </div>
    </div>
  );
}

/** As the table has them; new ones come last. */
const orderOf = (region: string): number => {
  const at = regionNames.value.indexOf(region);
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
};

/** With the most that can come, and without the most that can go. */
const shownShare = ({ before, least, most }: RegionShare): number => (most > before ? most : least);

const isSame = (a: number, b: number): boolean => Math.abs(a - b) < 0.000_05;

function ShareText({ of: { before, least, most } }: { of: RegionShare }) {
  if (isSame(before, least) && isSame(before, most)) return <>{shareText(before)}</>;
  const after = isSame(least, most)
    ? shareText(most)
    : isSame(least, before)
      ? `at most ${shareText(most)}`
      : isSame(most, before)
        ? `at least ${shareText(least)}`
        : `${shareText(least)} to ${shareText(most)}`;
  return (
    <>
      {shareText(before)} → <b>{after}</b>
    </>
  );
}

const OverloadLine = ({ of: { region, perSecond, most, isBound } }: { of: Overload }) => (
  <p class="soft small-text">
    <Icon name="warn" /> {region} {isBound ? "could get up to" : "would get"} <b>{rateText(perSecond)}</b>. Its most in
    the last 24 hours was {rateText(most)}.
  </p>
);

const GAP = 0.5;

/** Shares side by side. The figures stand below. */
export function Stack({ parts }: { parts: readonly (readonly [region: string, share: number])[] }) {
  const all = Math.max(
    1,
    parts.reduce((sum, [, share]) => sum + share, 0),
  );
  let x = 0;
  return (
    <svg class="bar stack thick" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(([region, share]) => {
        const from = x;
        const width = (share / all) * 100;
        x += width;
        return <rect key={region} class={regionClass(region)} x={from} width={Math.max(0, width - GAP)} height="10" />;
      })}
    </svg>
  );
}

/** The difference of two tables, with requests of the last hour. `revision`: of the table before, where it is one. */
export function DiffView(props: { before: DeclaredTable; after: DeclaredTable; revision?: number }) {
  const figures = useFigures();
  const changes = useMemo(() => changesInWords(props.before, props.after, gatewayNow()), [props.before, props.after]);
  const effect = effectOf(changes, props.revision ?? Number.NaN, figures?.hour, figures?.day, props.before);
  return <ChangesView changes={changes} effect={effect} isBoxed />;
}
