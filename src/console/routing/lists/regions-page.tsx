import { useEffect, useRef, useState } from "preact/hooks";
import type { MetricsHistory } from "../../../formats/console-api.ts";
import type { DeclaredRegion } from "../../../routing/schema/table.ts";
import { gatewayNow } from "../../app/clock.ts";
import { ownOf } from "../../app/own.ts";
import { Button } from "../../app/parts/button.tsx";
import { RegionChip } from "../../app/parts/region.tsx";
import { PageHead, ProblemNote, Skeleton } from "../../app/parts/sheet.tsx";
import { Mark, StateMark } from "../../app/parts/state.tsx";
import { type Column, Table } from "../../app/parts/table.tsx";
import { fragmentOf, place } from "../../app/router.ts";
import { type KnownTable, knownTable, mayChange } from "../../app/session.ts";
import { countText, msText, plural } from "../../app/words.ts";
import type { Regions } from "../../lookup/ask.ts";
import { recentOf } from "../../overview/history.ts";
import { momentText, shareText } from "../../overview/plot/words.ts";
import { type OpenForm, RoutingForm } from "../forms/routing-form.tsx";
import { VIEWERS_MAY_NOT } from "../reasons.ts";
import { DraftNote } from "./draft-note.tsx";
import { countriesOf, type OriginRow, originRows, routesTo, settingsOf } from "./region-facts.ts";
import { useAnswer } from "./use-answer.ts";
import "../../style/routing.css";

const STATES_EVERY_MS = 10_000;
const FIGURES_EVERY_MS = 30_000;

/** Where requests go, and whether what is there answers. */
export default function RegionsPage() {
  const known = knownTable.value;
  const asked = place.value.query.get("region");
  const [form, setForm] = useState<OpenForm>();
  const states = useAnswer<Regions>("/-/regions", STATES_EVERY_MS, known?.revision);
  const history = useAnswer<MetricsHistory>("/-/metrics/history?span=hour", FIGURES_EVERY_MS);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[data-asked]")?.scrollIntoView({ block: "start" });
  }, [asked, known === undefined]);
  return (
    <>
      <PageHead title="Regions" text="Where requests go, and whether their origins answer.">
        <Button
          icon="plus"
          disabledBecause={mayChange.value ? undefined : VIEWERS_MAY_NOT}
          onClick={() => setForm({ kind: "region" })}
        >
          Add a region
        </Button>
      </PageHead>
      <DraftNote />
      {states.problem && (
        <ProblemNote
          problem={states.problem}
          still={
            states.value ? "The states below are older than this." : "The regions stand; how they are is not known."
          }
          onRetry={states.again}
        />
      )}
      <div ref={list} class="pile">
        {known === undefined ? (
          <section class="sheet">
            <Skeleton label="Loading the regions" lines={6} />
          </section>
        ) : (
          Object.entries(known.declared.regions).map(([name, declared]) => (
            <RegionSheet
              key={name}
              name={name}
              declared={declared}
              known={known}
              states={states.value}
              history={history.value}
              isAsked={name === asked}
              onForm={setForm}
            />
          ))
        )}
      </div>
      {form && <RoutingForm form={form} onClose={() => setForm(undefined)} />}
    </>
  );
}

interface SheetProps {
  readonly name: string;
  readonly declared: DeclaredRegion;
  readonly known: KnownTable;
  readonly states: Regions | undefined;
  readonly history: MetricsHistory | undefined;
  readonly isAsked: boolean;
  readonly onForm: (form: OpenForm) => void;
}

function RegionSheet({ name, declared, known, states, history, isAsked, onForm }: SheetProps) {
  const health = ownOf(states?.regions, name);
  return (
    <section class="sheet" aria-labelledby={`region-${name}`} data-asked={isAsked ? "" : undefined}>
      <RegionHead name={name} health={health} isLoaded={states !== undefined} known={known} />
      <div class="in pile small">
        {health && health.state !== "healthy" && <p>{health.basis}</p>}
        <Figures name={name} declared={declared} history={history} />
      </div>
      <Origins name={name} rows={originRows(declared, health?.origins, gatewayNow())} onForm={onForm} />
      <footer>
        <span>
          {settingsOf(declared)
            .map(([what, value]) => `${what}: ${value}`)
            .join(" · ")}
        </span>
        {mayChange.value && (
          <span class="row tight">
            <Button size="small" icon="plus" onClick={() => onForm({ kind: "origin", region: name })}>
              Add an origin
            </Button>
            <Button size="small" onClick={() => onForm({ kind: "weights", region: name })}>
              Weights
            </Button>
            <Button size="small" icon="moves" onClick={() => onForm({ kind: "send-region", from: name, to: "" })}>
              Drain {name}
            </Button>
          </span>
        )}
      </footer>
    </section>
  );
}

interface HeadProps {
  readonly name: string;
  readonly health: Regions["regions"][string] | undefined;
  /** Whether the gateway said anything of regions. */
  readonly isLoaded: boolean;
  readonly known: KnownTable;
}

/** More countries are a number. */
const COUNTRIES_MAX = 6;

function RegionHead({ name, health, isLoaded, known }: HeadProps) {
  const countries = countriesOf(known.declared, name);
  const line = known.lineOf(`/regions/${name}`);
  return (
    <header>
      <div class="row">
        <h2 id={`region-${name}`}>
          <RegionChip name={name} />
        </h2>
        {health ? (
          <StateMark of={health}>
            {health.since && `since ${momentText(Date.parse(health.since), gatewayNow())}`}
          </StateMark>
        ) : (
          <Mark mood="plain" icon="none">
            {isLoaded ? "Not in force here yet" : "Not known"}
          </Mark>
        )}
      </div>
      <div class="row">
        <small>
          {countries.length > 0
            ? countries.slice(0, COUNTRIES_MAX).join(", ")
            : plural(routesTo(known.declared, name), "route")}
          {countries.length > COUNTRIES_MAX && ` and ${countries.length - COUNTRIES_MAX} more`}
        </small>
        {line !== undefined && (
          <Button
            size="small"
            icon="pencil"
            href={fragmentOf("editor", { line: String(line) })}
            label={`${name}, line ${line}`}
          >
            line {line}
          </Button>
        )}
      </div>
    </header>
  );
}

/** Figures of the last minute. Not known is said, and never 0. */
function Figures({ name, declared, history }: Pick<SheetProps, "name" | "declared" | "history">) {
  const series = ownOf(history?.regions, name);
  const isCounted = history?.source === "all";
  const recent = series && history ? recentOf(series, history.stepSeconds) : undefined;
  const unknown = isCounted ? "none yet" : "not known";
  return (
    <dl class="kpis">
      <Kpi name="Requests">{recent ? `${countText(Math.round(recent.perSecond * 10) / 10)} / s` : unknown}</Kpi>
      <Kpi name="Errors">{recent?.errorShare === undefined ? unknown : shareText(recent.errorShare)}</Kpi>
      <Kpi name="p50">{recent?.p50 === undefined ? "–" : msText(recent.p50)}</Kpi>
      <Kpi name="p99">{recent?.p99 === undefined ? "–" : msText(recent.p99)}</Kpi>
      <Kpi name="Fails over to">
        {declared.failover?.length ? (
          <span class="row tight">
            {declared.failover.map((each) => (
              <RegionChip key={each} name={each} />
            ))}
          </span>
        ) : (
          <span class="faint">nowhere</span>
        )}
      </Kpi>
    </dl>
  );
}

const Kpi = ({ name, children }: { name: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const COLUMNS: readonly Column[] = [
  { name: "Origin", class: "c-ent" },
  { name: "State", class: "c-way", isPlain: true },
  { name: "Weight", isNumber: true },
  { name: "Evidence", class: "wide", isPlain: true },
  { name: "Change", class: "c-act", isHidden: true },
];

function Origins({
  name,
  rows,
  onForm,
}: {
  name: string;
  rows: readonly OriginRow[];
  onForm: (form: OpenForm) => void;
}) {
  const used = rows.filter(({ weight }) => weight > 0).length;
  return (
    <Table
      label={`Origins of ${name}`}
      class="of-region"
      columns={COLUMNS}
      rows={rows.map(({ url, weight, state, evidence }, at) => ({
        key: url,
        cells: [
          <code key="url">{url.replace(/^https:\/\//, "")}</code>,
          <OriginState key="state" state={state} />,
          countText(weight),
          <span key="evidence" class="soft">
            {evidence}
          </span>,
          mayChange.value && weight > 0 && used > 1 ? (
            <Button
              key="drain"
              size="small"
              kind="quiet"
              label={`Drain ${url}`}
              onClick={() => onForm({ kind: "weights", region: name, drained: at })}
            >
              Drain
            </Button>
          ) : null,
        ],
      }))}
    />
  );
}

function OriginState({ state }: { state: OriginRow["state"] }) {
  if (state === "drained" || state === "not-known") {
    return (
      <Mark mood="plain" icon="none">
        {state === "drained" ? "Drained" : "Not known"}
      </Mark>
    );
  }
  return <StateMark of={{ state }} />;
}
