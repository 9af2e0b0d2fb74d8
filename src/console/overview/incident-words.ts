import type { TableRevision } from "../../formats/table-api.ts";
import type { Origin } from "../lookup/ask.ts";
import type { Incident } from "./incident.ts";
import { originState } from "./origins.ts";
import { lastedText, momentText, rateText, shareText } from "./plot/words.ts";

/** An incident in words: since when, how many requests get what, who else could answer, and what was published before. Pure. */

export interface IncidentContext {
  readonly nowMs: number;
  /** Those of the incident's region. */
  readonly origins: readonly Origin[];
  /** Regions that may answer reads meanwhile; `undefined` where the table is not known. */
  readonly failover: readonly string[] | undefined;
  readonly hasFailoverWrites: boolean;
  /** Newest first; `undefined` where they are not known. */
  readonly revisions: readonly Pick<TableRevision, "revision" | "time" | "kind">[] | undefined;
  readonly problemOf: (slug: string) => { readonly status: number | undefined; readonly title: string };
}

export interface ToldIncident {
  readonly title: string;
  readonly sentences: readonly string[];
}

export function tellIncident(incident: Incident, context: IncidentContext): ToldIncident {
  const sentences = [
    reasonOf(incident, context),
    ...(incident.level === "warn" || incident.region === undefined ? [] : [failoverOf(context)]),
    incident.trafficShare === undefined || incident.trafficShare === 0
      ? undefined
      : `${shareText(incident.trafficShare)} of all requests go there.`,
    publishedOf(incident, context),
  ];
  return { title: titleOf(incident, context), sentences: sentences.filter((each) => each !== undefined) };
}

function titleOf(incident: Incident, context: IncidentContext): string {
  const { region, level, state, failedShare } = incident;
  const since = sinceText(incident, context.nowMs);
  const hit = hitText(incident, context);
  if (level === "down") return `${region} is down${since}${hit === undefined ? "" : `: ${hit}`}`;
  if (level === "warn") return `${region} is ${state === "testing" ? "being tested" : "degraded"}${since}`;
  if (region === undefined) return `Requests of no region fail${since}: ${hit}`;
  const rate = incident.failedPerSecond === undefined ? "" : `: ${hit}`;
  return `${region} fails ${shareText(failedShare)} of its requests${since}${rate}`;
}

function sinceText({ sinceMs, isAtLeast }: Incident, nowMs: number): string {
  if (sinceMs === undefined) return "";
  return ` since ${momentText(sinceMs, nowMs)}${isAtLeast ? " or before" : ""}`;
}

function hitText(
  { region, failedPerSecond, failedShare, problem }: Incident,
  { problemOf }: IncidentContext,
): string | undefined {
  const got = problem === undefined ? "5xx" : (problemOf(problem).status ?? "5xx");
  // The first seconds of it: a share is known, and no rate.
  if (failedPerSecond === undefined && failedShare !== undefined && failedShare > 0)
    return `${shareText(failedShare)} of ${region === undefined ? "them" : "its requests"} get ${got}`;
  if (failedPerSecond === undefined) return undefined;
  // Where others answer meanwhile none fails.
  if (failedPerSecond === 0) return failedShare === undefined ? "no request went there in the last minute" : undefined;
  return `${rateText(failedPerSecond)} requests a second get ${got}`;
}

function reasonOf(incident: Incident, { origins, nowMs, problemOf }: IncidentContext): string | undefined {
  const used = origins.filter(({ weight }) => weight > 0);
  const states = used.map((origin) => originState(origin, nowMs));
  // One that is tried again failed before.
  const isNoneUp = states.includes("down") && states.every((state) => state === "down" || state === "testing");
  if (isNoneUp)
    return used.length === 1 ? "Its origin does not answer." : `None of its ${used.length} origins answers.`;
  if (incident.level === "failing" && incident.region !== undefined && incident.problem === undefined)
    return "Its origins answer with errors themselves.";
  const title = incident.problem === undefined ? undefined : problemOf(incident.problem).title;
  return (
    [incident.basis, title && incident.level !== "warn" ? `Most get “${title}”.` : ""].join(" ").trim() || undefined
  );
}

function failoverOf({ failover, hasFailoverWrites }: IncidentContext): string | undefined {
  if (failover === undefined) return undefined;
  const [first, ...others] = failover;
  if (first === undefined) return "It has no failover region.";
  const names = others.length === 0 ? first : `${[first, ...others.slice(0, -1)].join(", ")} or ${others.at(-1)}`;
  return `${hasFailoverWrites ? "Reads, and writes that are safe to repeat," : "Reads"} go to ${names} while no origin can be reached.`;
}

/** A publication so short before is the first to look at. */
const SUSPECT_MS = 15 * 60_000;

/** Length of a step: an event within it may be shown at its beginning. */
const LATE_MS = 30_000;

const DAY_MS = 86_400_000;

function publishedOf({ sinceMs }: Incident, { revisions }: IncidentContext): string | undefined {
  if (sinceMs === undefined || revisions === undefined) return undefined;
  const before = revisions.find(({ time }) => time !== undefined && Date.parse(time) <= sinceMs + LATE_MS);
  if (before?.time === undefined) return undefined;
  const gapMs = Math.max(0, sinceMs - Date.parse(before.time));
  const name = before.kind === "canary" ? `Canary ${before.revision}` : `Revision ${before.revision}`;
  if (gapMs <= SUSPECT_MS) return `${name} was published ${gapMs < 60_000 ? "just" : lastedText(gapMs)} before.`;
  return `Nothing was published in the ${gapMs > DAY_MS ? "24 h" : lastedText(gapMs)} before.`;
}
