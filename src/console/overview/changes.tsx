import type { LogEvent, WebhookState } from "../../formats/console-api.ts";
import type { TableRevision } from "../../formats/table-api.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button } from "../app/parts/button.tsx";
import { Icon, type IconName } from "../app/parts/icons.tsx";
import { Note, ProblemNote, Sheet, Skeleton } from "../app/parts/sheet.tsx";
import { Tag } from "../app/parts/state.tsx";
import { fragmentOf } from "../app/router.ts";
import { agoText, shortTime, wholeText } from "../app/words.ts";
import { loadLog, log, logProblem } from "./live.ts";
import { momentText } from "./plot/words.ts";

/** So many changes stand beside the figures. */
const CHANGES = 3;

/** The last publications and canaries, newest first. */
export function LastChanges({ revisions }: { revisions: readonly TableRevision[] | undefined }) {
  const nowMs = gatewayNow();
  return (
    <Sheet
      title="Last changes"
      aside={
        <a class="soft" href={fragmentOf("history")}>
          History
        </a>
      }
    >
      {revisions === undefined ? (
        <Skeleton label="Loading the last changes" lines={3} />
      ) : (
        <ul class="list changes" aria-label="Last changes">
          {revisions.slice(0, CHANGES).map(({ revision, kind, note, author, time }) => (
            <li key={revision}>
              <a href={fragmentOf("history", { revision: String(revision) })} aria-label={`Revision ${revision}`}>
                <Tag kind={kind === "canary" ? "dashed" : "line"}>{revision}</Tag>
              </a>
              <div>
                {note || KINDS[kind]}
                <small>
                  {time === undefined ? "" : momentText(Date.parse(time), nowMs)} by {author}
                </small>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}

const KINDS: Readonly<Record<TableRevision["kind"], string>> = {
  bundled: "Deployed with the code",
  publish: "Published without a note",
  rollback: "Rolled back",
  promote: "Canary promoted",
  import: "Found in storage",
  canary: "Canary without a note",
};

const ICONS: Readonly<Record<string, IconName>> = {
  region: "regions",
  origin: "regions",
  publication: "history",
  canary: "canary",
  errors: "warn",
  machine: "capacity",
  webhook: "link",
};

const iconOf = ({ kind, type, isOver }: LogEvent): IconName =>
  isOver ? "good" : type.endsWith(".down") || kind === "errors" ? "bad" : (ICONS[kind] ?? "info");

/** Events with their evidence. They outlive the figures: 30 days, or 1,000 events. */
export function EventLogSheet() {
  const own = log.value;
  return (
    <Sheet title="Events" aside={<small>kept for 30 days, at most 1,000</small>}>
      {logProblem.value && (
        <div class="in">
          <ProblemNote problem={logProblem.value} onRetry={() => void loadLog()} />
        </div>
      )}
      {own === undefined && logProblem.value === undefined && <Skeleton label="Loading the events" lines={3} />}
      {own?.webhook && (own.webhook.isGone || own.webhook.lastFailure !== null) && (
        <div class="in">
          <Note kind="first" title="The receiver of events does not take them">
            {webhookText(own.webhook)}
          </Note>
        </div>
      )}
      {own?.source === "none" && <p class="in soft">The log cannot be read now.</p>}
      {own?.source === "all" && own.events.length === 0 && <p class="in soft">Nothing has happened yet.</p>}
      {own !== undefined && own.events.length > 0 && (
        <ol class="list events" aria-label="Events">
          {own.events.map((event) => (
            <li key={event.id}>
              <span class={moodOf(event)}>
                <Icon name={iconOf(event)} />
              </span>
              <div>
                {event.words}
                <small>
                  <time dateTime={event.time} title={shortTime(event.time)}>
                    {agoText(event.time)}
                  </time>
                  {evidenceText(event)}
                </small>
              </div>
            </li>
          ))}
        </ol>
      )}
      {own !== undefined && own.next !== null && (
        <div class="in">
          <Button size="small" onClick={() => void loadLog(own.next ?? undefined)}>
            Earlier events
          </Button>
        </div>
      )}
    </Sheet>
  );
}

const webhookText = ({ isGone, lastFailure, waiting }: WebhookState): string =>
  isGone
    ? "It answered 410: none is sent until EVENTS_WEBHOOK changes."
    : `The last one: ${lastFailure}. ${waiting === 1 ? "1 waits" : `${wholeText(waiting)} wait`}, and are sent again.`;

const moodOf = (event: LogEvent): string => (event.isOver ? "good" : iconOf(event) === "bad" ? "bad" : "plain");

/** `errors: 43; requests: 60`, without texts that its words already have. */
const evidenceText = ({ evidence, words }: LogEvent): string =>
  Object.entries(evidence)
    .filter(([, value]) => typeof value === "number" || !words.includes(value))
    .map(([name, value]) => `; ${wordsIn(name)}: ${value}`)
    .join("");

/** `originsDown` is `origins down`. */
const wordsIn = (name: string): string =>
  name.replaceAll(/[_-]/g, " ").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
