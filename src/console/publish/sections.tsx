import type { ComponentChildren } from "preact";
import { NOTE_CHARACTERS_MAX } from "../../formats/table-requests.ts";
import { gatewayNow } from "../app/clock.ts";
import { deployment, environment } from "../app/environment.ts";
import { Check, Field } from "../app/parts/fields.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { Skeleton } from "../app/parts/sheet.tsx";
import { session } from "../app/session.ts";
import { note } from "../app/typed.ts";
import { plural } from "../app/words.ts";
import { momentText } from "../overview/plot/words.ts";
import { ChangesView, rateText } from "./changes-view.tsx";
import type { ChangesInWords } from "./diff-words.ts";
import type { GoesOn, LeftBehind, NameReason } from "./left-behind.ts";
import type { OnlyNew } from "./only-new.ts";
import type { Effect } from "./requests/effect.ts";
import { listText } from "./words/words.ts";

/** Parts of the windows that change the table. */

export type Who = "all" | "new";

interface LeftProps {
  readonly left: LeftBehind;
  readonly goesOn: GoesOn | undefined;
  readonly isTicked: boolean;
  readonly onTick: (isTicked: boolean) => void;
  /** Absent where the change cannot be limited to new IDs, as that of a roll back. */
  readonly limited?: {
    readonly who: Who;
    readonly onWho: (who: Who) => void;
    readonly only: OnlyNew;
    readonly atMs: number;
  };
}

const NAMES_MAX = 5;

export function LeftBehindSection({ left, goesOn, isTicked, onTick, limited }: LeftProps) {
  const from = listText(left.from, NAMES_MAX);
  const isAll = limited?.who !== "new";
  const all = (
    <div class="opt">
      {limited ? (
        <Check group="left" isOn={isAll} onChange={() => limited.onWho("all")} hint={goesOnText(goesOn)}>
          <b>All of them, as the draft says</b>
        </Check>
      ) : (
        <small>{goesOnText(goesOn)}</small>
      )}
      <Check isOn={isTicked && isAll} isOff={!isAll} onChange={onTick}>
        {copiedText(left)}
      </Check>
    </div>
  );
  return (
    <section class="risk">
      <h3>
        <Icon name="warn" />
        What they leave behind in {from}
      </h3>
      <p>
        A route moves requests, not data. For {listText(left.entities, NAMES_MAX)} IDs that {from}{" "}
        {left.from.length === 1 ? "has" : "have"} today, {answersText(left)}
      </p>
      {limited ? (
        <div class="steps2">
          {all}
          <OnlyNewOption {...limited} />
        </div>
      ) : (
        all
      )}
    </section>
  );
}

function answersText({ to }: LeftBehind): string {
  if (to.length === 0) return "requests get 404 then: no route takes them.";
  const own = to.length === 1 ? `${to[0]} answers` : "the new region answers";
  return `${own} as for any ID that it does not know.`;
}

function copiedText({ from, to }: LeftBehind): string {
  if (to.length === 0) return "Their requests may be refused";
  return from.length === 1 && to.length === 1
    ? `The data is copied, or ${to[0]} reads it from ${from[0]}`
    : "The data is copied, or the new regions read it from the old ones";
}

function OnlyNewOption({ who, onWho, only, atMs }: NonNullable<LeftProps["limited"]>) {
  const hint = only.ok
    ? `Adds “minted from ${momentText(atMs, gatewayNow())}”, and older IDs keep their route. Nothing is left behind: no ID has such a time yet.`
    : `Not possible: ${only.why}`;
  return (
    <div class="opt">
      <Check group="left" isOn={who === "new"} isOff={!only.ok} onChange={() => onWho("new")} hint={hint}>
        <b>Only IDs minted from now on</b>
      </Check>
    </div>
  );
}

function goesOnText(own: GoesOn | undefined): string {
  if (own === undefined) return "Entities that the table names itself go on as they are.";
  const { moves, moved } = own;
  if (moves + moved === 0) return "None of them has moved or is moving.";
  const parts = [
    ...(moves === 0 ? [] : [plural(moves, "move in progress", "moves in progress")]),
    ...(moved === 0 ? [] : [plural(moved, "moved entity", "moved entities")]),
  ];
  return `${listText(parts, 2)} among them: ${moves + moved === 1 ? "it goes on as it is" : "they go on as they are"}.`;
}

export type How = "canary" | "all";

export const CANARY_SHARE = 5;

export function HowSection(props: { how: How; onHow: (how: How) => void; effect: Effect | undefined; who: Who }) {
  const { how, onHow, effect, who } = props;
  const perSecond = effect && effect.share * effect.perSecond;
  const isBound = effect?.ways.some((way) => way === undefined || way.isBound) === true;
  const rate = (share: number): string => {
    if (who === "new") return "No request goes elsewhere at first. ";
    return perSecond === undefined ? "" : `${isBound ? "At most " : ""}${rateText(perSecond * share)} at first. `;
  };
  return (
    <section>
      <h3>How</h3>
      <div class="steps2">
        <div class="opt">
          <Check
            group="how"
            isOn={how === "canary"}
            onChange={() => onHow("canary")}
            hint={`${rate(CANARY_SHARE / 100)}All status classes are compared before you promote it.`}
          >
            <b>As a canary, for {CANARY_SHARE} % of the IDs</b>
          </Check>
        </div>
        <div class="opt">
          <Check
            group="how"
            isOn={how === "all"}
            onChange={() => onHow("all")}
            hint={`${rate(1)}As a rule everywhere within 2 minutes.`}
          >
            <b>For all IDs now</b>
          </Check>
        </div>
      </div>
    </section>
  );
}

/** The change with its requests, once they are counted. */
export const EffectSection = (props: {
  changes: ChangesInWords;
  effect: Effect | undefined;
  isReady: boolean;
  children?: ComponentChildren;
}) => (
  <section>
    <h3>What changes</h3>
    {props.isReady ? (
      <ChangesView changes={props.changes} effect={props.effect} isBoxed />
    ) : (
      <Skeleton label="Counting the requests" lines={2} />
    )}
    {props.children}
  </section>
);

/** The name that must be typed: of the environment, else of the host. */
export interface NameToType {
  readonly name: string;
  readonly reason: NameReason;
}

export const nameToType = (reason: NameReason | undefined): NameToType | undefined =>
  reason && { reason, name: environment.value ?? deployment.value };

const NAME_REASONS: Readonly<Record<NameReason, string>> = {
  share: "More than 10 % of the requests",
  unknown: "How many requests is not known",
};

/** The first thing that is missing, for all windows. */
export function missingName(asked: NameToType | undefined, typed: string, isReady: boolean): string | undefined {
  if (!isReady) return "The requests are still being counted.";
  return asked !== undefined && typed !== asked.name ? `First type ${asked.name}.` : undefined;
}

export function NoteSection(props: {
  asked: NameToType | undefined;
  typed: string;
  onType: (text: string) => void;
  isNoteNeeded?: boolean;
}) {
  const { asked, typed, onType } = props;
  return (
    <section>
      <div class="cols">
        <Field
          label={props.isNoteNeeded ? "Note for the history, needed" : "Note for the history"}
          hint={`The reason, for those who read it at night. The history will name ${session.value?.name}.`}
          isLong
          value={note.value}
          onInput={(text) => {
            note.value = text.slice(0, NOTE_CHARACTERS_MAX);
          }}
        />
        {asked !== undefined && (
          <Field
            label={
              <>
                {NAME_REASONS[asked.reason]}: type <code>{asked.name}</code>
              </>
            }
            hint="The name of this environment."
            value={typed}
            onInput={onType}
          />
        )}
      </div>
    </section>
  );
}
