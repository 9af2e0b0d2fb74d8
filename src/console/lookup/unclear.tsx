import { LUUID_SHORT } from "../../routing/identity.ts";
import { Button } from "../app/parts/button.tsx";
import { Empty, Sheet } from "../app/parts/sheet.tsx";
import { keyed } from "../app/session.ts";
import { AskButton } from "./actions.tsx";
import type { Answer } from "./answers.ts";
import type { Pasted } from "./read-pasted.ts";
import { type Reader, type Reading, shortKeyOwners } from "./reader.ts";
import type { Unclear } from "./verdict/known.ts";
import { problemStatus } from "./verdict/refusals.ts";

/** Texts that are no ID, or may be several: why, and what to do. */

interface UnclearProps {
  readonly kind: Unclear;
  readonly pasted: Pasted;
  readonly reading: Reading;
  readonly answer: Answer;
  readonly reader: Reader;
  /** Another text to look up in its place. */
  readonly onPick: (text: string) => void;
}

export function UnclearSheet(props: UnclearProps) {
  const { kind, pasted, reading, answer, reader, onPick } = props;
  const paths =
    kind === "short-key"
      ? shortKeyOwners(reading).flatMap((entity) => reader.ownPath(entity, LUUID_SHORT, reading.text) ?? [])
      : [];
  return (
    <Sheet title={TITLES[kind](reading, reader)}>
      <Empty
        icon={kind === "none" ? "cross" : "key"}
        title={kind === "none" ? "Check that the text is whole" : "The text alone does not say it"}
        actions={
          <>
            {paths.map((path) => (
              <Button key={path} icon="look-up" kind="main" onClick={() => onPick(path)}>
                Read it as {path}
              </Button>
            ))}
            <AskButton pasted={pasted} answer={answer} size="normal" isPlain={paths.length > 0} />
            <Button icon="pencil" onClick={() => onPick("")}>
              Paste again
            </Button>
          </>
        }
      >
        {whyText(props).map((sentence) => (
          <span key={sentence}>{sentence} </span>
        ))}
      </Empty>
    </Sheet>
  );
}

const TITLES: Readonly<Record<Unclear, (reading: Reading, reader: Reader) => string>> = {
  several: () => "This can be several things",
  "short-key": (reading) => `This may be a short key of ${shortKeyOwners(reading).join(" or ")}`,
  none: (_, { knows }) => (knows === "nothing" ? "This is no ID that we know" : "This is no ID of the table"),
};

function whyText({ kind, reading, reader, answer }: UnclearProps): readonly string[] {
  const ofKeys = [...new Set(keyed.value.map(({ entity }) => entity))];
  const keys = ofKeys.length === 0 ? [] : [`It may be a key of ${ofKeys.join(" or ")}: the gateway can tell.`];
  if (kind === "several") {
    const left = reading.candidates.filter(({ excluded }) => !excluded);
    const names = left.map(({ layout, entity }) => (entity === undefined ? layout : `${entity} (${layout})`));
    return [`It fits ${names.join(", ")}.`, "Nothing in the text says which. A whole URL would."];
  }
  if (kind === "short-key") return ["It is no whole ID. Only a path says that a short key is meant.", ...keys];
  const nearest = nearestFault(reading, reader) ?? "No layout reads it as a valid ID.";
  const reason = answer.value?.explanation.error?.reason;
  const status = reason && problemStatus(reason);
  if (answer.value !== undefined) return [nearest, status ? `Requests with it get ${status}.` : ""];
  return [nearest, ...keys];
}

type Fault = NonNullable<Reading["unreadable"]>[number];

/** How far a text may be from the length of an ID to be taken for one that lost some of it. */
const NEAR_MAX = 4;

/** The layout that the text comes nearest to, in words; `undefined`: it is like none. */
function nearestFault({ text, unreadable = [], candidates }: Reading, reader: Reader): string | undefined {
  const excluded = candidates.find((each) => each.excluded && each.against.length > 0);
  if (excluded !== undefined) return `It reads as ${excluded.layout}, but ${excluded.against[0]}.`;
  const near = unreadable
    .map((fault) => ({ fault, by: distanceOf(fault, text, reader) }))
    .toSorted((a, b) => a.by - b.by)
    .find(({ by }) => by <= NEAR_MAX);
  return near && faultInWords(near.fault, text);
}

function distanceOf({ layout, error }: Fault, text: string, reader: Reader): number {
  if (error.reason === "fixed-bits" || error.reason === "range") return 0;
  const length = reader.layout(layout)?.table.text.lengthMax ?? 0;
  if (error.reason === "length") return Math.abs(length - text.length);
  // A wrong character in a text of another length says nothing.
  return "at" in error && length === text.length ? 1 : Number.POSITIVE_INFINITY;
}

function faultInWords({ layout, error }: Fault, text: string): string {
  switch (error.reason) {
    case "length": {
      const [wanted = 0] = error.expected.match(/\d+/g)?.map(Number) ?? [];
      const by = wanted - error.actual;
      const count = Math.abs(by) === 1 ? "One is" : `${Math.abs(by)} are`;
      const what = by > 0 ? "missing, perhaps lost when it was copied" : "too many";
      return `It has ${error.actual} characters; ${layout} has ${error.expected}. ${count} ${what}.`;
    }
    case "alphabet":
    case "whitespace":
    case "shape":
      return `Character ${error.at + 1}, “${text.charAt(error.at)}”, is wrong for ${layout}.`;
    case "fixed-bits":
      return `As ${layout} its ${error.field} is ${error.actual}, and it is always ${error.expected}.`;
    case "range":
      return `As ${layout} ${error.field ?? "the value"} is outside ${error.min} to ${error.max}.`;
    default:
      return "It is empty.";
  }
}
