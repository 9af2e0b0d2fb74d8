import { ownOf } from "../app/own.ts";
import { Badge, Facts, Health, type Mood, Panel } from "../app/parts.tsx";
import { agoText, localTime, utcTime } from "../app/words.ts";
import type { Asked, DirectoryEntry, KeyAnswer } from "./ask.ts";

/** Directories' entries for a key. They are asked themselves, and no cache of theirs. */
export function Keys({ keys, text, health }: { keys: readonly KeyAnswer[]; text: string; health: Asked["health"] }) {
  const found = keys.filter(({ entry }) => entry.ok);
  const shown = found.length > 0 ? found : keys;
  return (
    <>
      {shown.map((key) => (
        <Panel key={key.directory + key.entity} title={`In the directory ${key.directory}`}>
          <Key answer={key} text={text} health={health} />
        </Panel>
      ))}
    </>
  );
}

const STATES: Readonly<Record<DirectoryEntry["state"], readonly [mood: Mood, words: string]>> = {
  confirmed: ["good", "confirmed: requests are routed by it"],
  reserved: ["warn", "reserved, and not confirmed: requests find no such key"],
  expired: ["warn", "its reservation is over: another owner may take it, and requests find no such key"],
};

function Key({
  answer: { entry, entity, cacheSeconds, askedAtMs },
  text,
  health,
}: {
  answer: KeyAnswer;
  text: string;
  health: Asked["health"];
}) {
  if (!entry.ok) {
    const { slug, title, detail } = entry.problem;
    return slug === "unknown-key" ? (
      <p role="status">
        It has no key {text}
        {entity !== undefined && ` of ${entity}`}. {freshText(askedAtMs)}
      </p>
    ) : (
      <p class="box warn">
        {title}. {detail}
      </p>
    );
  }
  const { key, region, owner, state, changedAt, leaseUntil, missingSince } = entry.value;
  const [mood, words] = STATES[state];
  return (
    <Facts
      rows={[
        entity === undefined ? undefined : ["Entity", entity],
        ["Key", <code>{key}</code>],
        [
          "Region",
          <>
            <strong>{region}</strong> <Health of={ownOf(health, region)} />
          </>,
        ],
        ["State", <Badge mood={mood}>{words}</Badge>],
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
