import { ownOf } from "../../app/own.ts";
import { RegionChip } from "../../app/parts/region.tsx";
import { Note, Sheet } from "../../app/parts/sheet.tsx";
import { Mark, type Mood, StateMark } from "../../app/parts/state.tsx";
import { Facts } from "../../app/parts/table.tsx";
import { agoText, localTime, utcTime } from "../../app/words.ts";
import type { Asked, DirectoryEntry, KeyAnswer } from "../ask.ts";

/** Directories' entries for a key. They are asked themselves, and no cache of theirs. */
export function Keys({ keys, text, health }: { keys: readonly KeyAnswer[]; text: string; health: Asked["health"] }) {
  const found = keys.filter(({ entry }) => entry.ok);
  const shown = found.length > 0 ? found : keys;
  return (
    <>
      {shown.map((key) => (
        <Sheet key={key.directory + key.entity} title={`In the directory ${key.directory}`} isIn>
          <Key answer={key} text={text} health={health} />
        </Sheet>
      ))}
    </>
  );
}

const STATES: Readonly<Record<DirectoryEntry["state"], readonly [mood: Mood, words: string]>> = {
  confirmed: ["good", "confirmed: requests are routed by it"],
  reserved: ["warn", "reserved, and not confirmed: requests find no such key"],
  expired: ["warn", "its reservation is over: another owner may take it, and requests find no such key"],
};

function Key({ answer, text, health }: { answer: KeyAnswer; text: string; health: Asked["health"] }) {
  const { entry, entity, askedAtMs } = answer;
  if (entry.ok) return <Entry answer={answer} entry={entry.value} health={health} />;
  const { slug, title, detail } = entry.problem;
  return slug === "unknown-key" ? (
    <p role="status">
      It has no key {text}
      {entity !== undefined && ` of ${entity}`}. {freshText(askedAtMs)}
    </p>
  ) : (
    <Note kind="first" title={title}>
      {detail}
    </Note>
  );
}

function Entry(props: { answer: KeyAnswer; entry: DirectoryEntry; health: Asked["health"] }) {
  const { answer, entry, health } = props;
  const { entity, cacheSeconds, askedAtMs } = answer;
  const { key, region, owner, state, changedAt, leaseUntil, missingSince } = entry;
  const [mood, words] = STATES[state];
  const regionHealth = ownOf(health, region);
  return (
    <Facts
      rows={[
        entity === undefined ? undefined : ["Entity", entity],
        ["Key", <code>{key}</code>],
        [
          "Region",
          <>
            <RegionChip name={region} /> {regionHealth && <StateMark of={regionHealth} />}
          </>,
        ],
        [
          "State",
          <Mark mood={mood} icon={mood === "good" ? "good" : "warn"}>
            {words}
          </Mark>,
        ],
        owner === undefined ? undefined : ["Owner", <code>{owner}</code>],
        leaseUntil === undefined ? undefined : ["Reserved until", timeText(leaseUntil)],
        missingSince === undefined ? undefined : ["Missing at its region", `since ${timeText(missingSince)}`],
        ["Changed", `${timeText(changedAt)}, ${agoText(changedAt)}`],
        [
          "Freshness",
          `${freshText(askedAtMs)}${cacheSeconds === undefined ? "" : ` Gateways may have an earlier answer for ${cacheSeconds} s.`}`,
        ],
      ]}
    />
  );
}

const freshText = (askedAtMs: number): string => `The directory itself said so at ${localTime(askedAtMs)}.`;

const timeText = (time: string): string => `${localTime(time)} (${utcTime(time)})`;
