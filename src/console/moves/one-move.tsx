import { useState } from "preact/hooks";
import { NOTE_CHARACTERS_MAX } from "../../formats/table-requests.ts";
import type { Candidate } from "../../routing/index.ts";
import type { EntityLocation, Step } from "../../routing/moves/steps.ts";
import { gatewayNow } from "../app/clock.ts";
import { Button, Copy } from "../app/parts/button.tsx";
import { Choice, Guard } from "../app/parts/fields.tsx";
import { Icon } from "../app/parts/icons.tsx";
import { RegionChip } from "../app/parts/region.tsx";
import { Note } from "../app/parts/sheet.tsx";
import { type Step as ShownStep, Stepper } from "../app/parts/table.tsx";
import { fragmentOf } from "../app/router.ts";
import { type KnownTable, mayChange, reader } from "../app/session.ts";
import { moveTicks } from "../app/typed.ts";
import { plural, shortTime } from "../app/words.ts";
import type { Pasted } from "../lookup/read-pasted.ts";
import type { Reading } from "../lookup/reader.ts";
import { type Change, ConfirmChange } from "../publish/confirm-change.tsx";
import { publish } from "../publish/send.ts";
import { tableIn } from "../routing/check-text.ts";
import { homeOf } from "./home.ts";
import { type Located, locate, textAfter } from "./plan-move.ts";
import { shortId } from "./rows.ts";
import { type Since, useSince } from "./since.ts";
import { type Stage, stagesOf, stepOf } from "./stages.ts";
import { tickedAt, withTicks } from "./ticks.ts";

interface Props {
  readonly known: KnownTable;
  readonly pasted: Pasted;
  readonly reading: Reading;
  readonly chosen: Candidate;
}

/** The move of one entity. A step that could lose writes stays shut until what comes before it is ticked. */
export function OneMove({ known, pasted, reading, chosen }: Props) {
  const [change, setChange] = useState<Change>();
  const [fault, setFault] = useState<string>();
  const texts = [...new Set([...reading.forms.map((form) => form.text), pasted.id])];
  const located = locate(known.declared, texts, reader.value.read(pasted, gatewayNow()).decision?.region);
  const { key, at } = located;
  const since = useSince(at.state === "routed" || at.state === "gone" ? [] : [key], known.revision).get(key);
  const take: Take = (step, verb) => {
    const next = changeOf(known, located, step, `${verb}: ${chosen.entity} ${key}`, verb);
    setFault(typeof next === "string" ? next : undefined);
    if (typeof next !== "string") setChange(next);
  };
  return (
    <section class="sheet" aria-label={`The move of ${chosen.entity} ${key}`}>
      <header>
        <div>
          <h2 title={key}>
            {chosen.entity} <code>{shortId(key)}</code>
          </h2>
          <PlaceLine at={at} />
        </div>
        <Button size="small" icon="look-up" href={fragmentOf("look-up", { id: pasted.source })}>
          Look up
        </Button>
      </header>
      {at.state === "gone" ? (
        <div class="in">
          <Note kind="bad" title="It is removed from every region, for ever">
            Requests get 410, and its ID is never used again.
          </Note>
        </div>
      ) : (
        <div class="in-steps">
          <Stepper
            steps={stagesOf(key, at).map((stage) => shownStep(stage, { known, located, since, take, pasted }))}
          />
        </div>
      )}
      {fault !== undefined && (
        <div class="in">
          <Note kind="bad" isAlert title="It cannot be done">
            {fault}.
          </Note>
        </div>
      )}
      {change && <ConfirmChange change={change} onClose={() => setChange(undefined)} />}
    </section>
  );
}

type Take = (step: Step, verb: string) => void;

/** The change of a step, or the sentence that says why there is none. */
function changeOf(known: KnownTable, located: Located, step: Step, title: string, verb: string): Change | string {
  const next = textAfter(known.text, located, step);
  if (!next.ok) return next.error;
  const after = tableIn(next.value);
  if (after === undefined) return "the table would have a fault; change it as text";
  return {
    title,
    verb,
    before: known.declared,
    after,
    revision: known.revision,
    action: "publish",
    usualNote: `${verb.toLowerCase()} move of ${located.key}`.slice(0, NOTE_CHARACTERS_MAX),
    send: (note) => publish(next.value, known.revision, note),
  };
}

function PlaceLine({ at }: { at: EntityLocation }) {
  if (at.state === "gone") return <p>gone, epoch {at.epoch}</p>;
  const epoch = "epoch" in at && at.epoch !== undefined ? `epoch ${at.epoch}` : undefined;
  return (
    <p>
      <span class="to">
        {"from" in at ? (
          <>
            <RegionChip name={at.from} />
            <Icon name="arrow" />
            <RegionChip name={at.to} />
          </>
        ) : at.region === undefined ? (
          "in no region: no route takes it"
        ) : (
          <RegionChip name={at.region} />
        )}
      </span>{" "}
      {epoch ?? (at.state === "routed" ? "by the routes" : "moved by other means")}
    </p>
  );
}

interface Shown {
  readonly known: KnownTable;
  readonly located: Located;
  readonly pasted: Pasted;
  readonly since: Since | undefined;
  readonly take: Take;
}

function shownStep(stage: Stage, shown: Shown): ShownStep {
  const { at } = shown.located;
  const now = stepOf(at);
  const own = stepOf(stage);
  const { since } = shown;
  const isNow = own === now;
  const when = isNow && since?.time && (
    <small>
      {" "}
      {since.isExact ? "" : "at least since "}
      {shortTime(since.time)} by {since.author}
    </small>
  );
  return {
    key: stage.state,
    is: isNow ? "now" : own < now ? "done" : "later",
    title: (
      <>
        {stage.name}
        {when}
      </>
    ),
    // A past stage has nothing more to say.
    children: own >= now && <StageBody stage={stage} isNow={isNow} shown={shown} />,
  };
}

function StageBody({ stage, isNow, shown }: { stage: Stage; isNow: boolean; shown: Shown }) {
  const { key, at } = shown.located;
  if (!isNow) {
    return (
      <p>
        {stage.holds} {stage.undo}
      </p>
    );
  }
  const ticked = tickedAt(moveTicks.value, key, at);
  const missing = stage.todo.length - ticked.size;
  return (
    <>
      <p>{stage.holds}</p>
      {stage.todo.length > 0 && (
        <Guard
          label="Done at the regions"
          boxes={stage.todo.map(({ text, call }) => ({
            text: (
              <>
                {text}
                {call && (
                  <span class="cmd">
                    <code>{call}</code>
                    <Copy text={call} label={`the call ${call.slice(0, call.indexOf("("))}`} />
                  </span>
                )}
              </>
            ),
          }))}
          ticked={ticked}
          onChange={(next) => {
            moveTicks.value = withTicks(moveTicks.value, key, at, next);
          }}
        />
      )}
      {stage.danger && missing > 0 && (
        <p class="danger">
          <Icon name="warn" /> {stage.danger}
        </p>
      )}
      {(missing === 0 || !stage.danger) && <p>{stage.safe}</p>}
      {mayChange.value ? (
        <Actions
          shown={shown}
          shut={missing > 0 ? `${plural(missing, "answer is", "answers are")} missing` : undefined}
        />
      ) : (
        <p class="soft">An operator takes the steps.</p>
      )}
      <p>
        <small>{stage.undo}</small>
      </p>
    </>
  );
}

/** `shut`: why the next step cannot be taken yet. */
function Actions({ shown, shut }: { shown: Shown; shut: string | undefined }) {
  const { located, take, pasted, known } = shown;
  const { at } = located;
  switch (at.state) {
    case "started":
      return (
        <div class="row acts-in">
          <Button kind="main" onClick={() => take({ name: "fence" }, "Fence")}>
            Fence
          </Button>
          <Abort take={take} />
        </div>
      );
    case "fenced":
      return (
        <div class="row acts-in">
          <Button kind="main" disabledBecause={shut} onClick={() => take({ name: "switch" }, "Switch")}>
            Switch to {at.to}
          </Button>
          <Abort take={take} />
        </div>
      );
    case "gone":
      return null;
    default: {
      const isRepeated = at.state === "moved" && homeOf(pasted.source) === at.region;
      return (
        <>
          <StartMove known={known} at={at} take={take} shut={shut} />
          {isRepeated && (
            <div class="row acts-in">
              <Button
                disabledBecause={shut}
                onClick={() => take({ name: "finish", routed: homeOf(pasted.source) }, "Finish")}
              >
                Finish
              </Button>
              <small>The routes say the same: its entry may go.</small>
            </div>
          )}
        </>
      );
    }
  }
}

const Abort = ({ take }: { take: Take }) => (
  <Button kind="danger" onClick={() => take({ name: "abort" }, "Abort")}>
    Abort
  </Button>
);

interface StartProps {
  readonly known: KnownTable;
  readonly at: Extract<EntityLocation, { state: "routed" | "moved" }>;
  readonly take: Take;
  readonly shut: string | undefined;
}

function StartMove({ known, at, take, shut }: StartProps) {
  const [to, setTo] = useState("");
  const others = Object.keys(known.declared.regions).filter((name) => name !== at.region);
  const target = others.includes(to) ? to : (others[0] ?? "");
  const because =
    at.region === undefined
      ? "No route takes it: it has no region to leave."
      : target === ""
        ? "The table has no other region."
        : shut;
  return (
    <div class="start-move">
      <Choice label="To" value={target} options={others.map((name) => [name, name])} onChange={setTo} />
      <Button
        kind={at.state === "routed" ? "main" : "plain"}
        disabledBecause={because}
        onClick={() => take({ name: "start", to: target, epochMin: 1 + (known.declared.epochFloor ?? 0) }, "Start")}
      >
        {at.state === "routed" ? "Start the move" : "Start another move"}
      </Button>
    </div>
  );
}
