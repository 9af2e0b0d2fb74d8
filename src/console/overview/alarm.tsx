import type { TableRevision } from "../../formats/table-api.ts";
import { gatewayNow } from "../app/clock.ts";
import { ownOf } from "../app/own.ts";
import { Button } from "../app/parts/button.tsx";
import { Alarm, Note } from "../app/parts/sheet.tsx";
import { fragmentOf } from "../app/router.ts";
import { type KnownTable, knownTable, mayChange } from "../app/session.ts";
import type { Regions } from "../lookup/ask.ts";
import type { Incident } from "./incident.ts";
import { tellIncident } from "./incident-words.ts";
import { problemWords } from "./problem-words.ts";

interface Props {
  readonly incidents: readonly Incident[];
  readonly regions: Regions | undefined;
  readonly revisions: readonly TableRevision[] | undefined;
  /** Regions that new IDs go to. */
  readonly targets: ReadonlySet<string>;
}

/** So many are told in full: the table below has all. */
const ALARMS_MAX = 3;

/** The incidents of now, since when they are, and the ways out. */
export function Alarms({ incidents, regions, revisions, targets }: Props) {
  const table = knownTable.value?.declared;
  return (
    <div class="alarms">
      {incidents.slice(0, ALARMS_MAX).map((incident) => {
        const { region = "" } = incident;
        const declared = ownOf(table?.regions, region);
        const told = tellIncident(incident, {
          nowMs: gatewayNow(),
          origins: ownOf(regions?.regions, region)?.origins ?? [],
          failover: table && (declared?.failover ?? []),
          hasFailoverWrites: declared?.failoverWrites === true,
          revisions,
          problemOf: problemWords,
        });
        const text = told.sentences.join(" ");
        const to = mayChange.value ? elsewhere(incident, incidents, table, targets) : undefined;
        const actions = incident.region !== undefined && (
          <>
            <Button href={fragmentOf("regions", { region })}>{`Origins of ${region}`}</Button>
            {to !== undefined && (
              <Button
                kind="quiet"
                href={fragmentOf("routes", { from: region, to })}
              >{`Draft: new IDs to ${to}`}</Button>
            )}
          </>
        );
        return incident.level === "warn" ? (
          <Note key={region} isTop kind="first" title={told.title} aside={actions}>
            {text}
          </Note>
        ) : (
          <Alarm key={region} title={told.title} actions={actions}>
            <p>{text}</p>
          </Alarm>
        );
      })}
      {incidents.length > ALARMS_MAX && (
        <p class="soft">And {incidents.length - ALARMS_MAX} more regions: see below.</p>
      )}
    </div>
  );
}

/** Where new IDs could go meanwhile: a region that is sound, of those of the failover first. It makes sense where new IDs go to this one. */
function elsewhere(
  { region, level }: Incident,
  incidents: readonly Incident[],
  table: KnownTable["declared"] | undefined,
  targets: ReadonlySet<string>,
): string | undefined {
  if (region === undefined || level === "warn" || !targets.has(region)) return undefined;
  const troubled = new Set(incidents.map((incident) => incident.region));
  const failover = ownOf(table?.regions, region)?.failover ?? [];
  return [...failover, ...Object.keys(table?.regions ?? {})].find((name) => !troubled.has(name));
}
