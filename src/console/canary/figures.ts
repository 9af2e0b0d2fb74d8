import {
  type CanaryVerdict,
  countOf,
  differenceOf,
  type ShareDifference,
  type VerdictCondition,
} from "../../formats/canary-verdict.ts";
import type { MetricsHistory, TableFigures } from "../../formats/console-api.ts";
import { STATUS_CLASSES, type StatusClass } from "../../formats/status-classes.ts";
import type { Audience } from "../../formats/table-api.ts";
import { countText, hundredthsText, msText, percentText, wholeText } from "../app/words.ts";

/** The answers to both tables beside each other, in words. Pure. */

export interface ComparedRow {
  readonly name: string;
  readonly inForce: string;
  readonly canary: string;
  readonly difference: string;
  /** Between the shares; absent where there is no share. */
  readonly interval?: ShareDifference;
  readonly words: string;
  readonly isWorse: boolean;
}

const CLASS_NAMES: Readonly<Record<StatusClass, string>> = {
  "2xx": "2xx",
  "3xx": "3xx",
  "404": "404, not found",
  "421": "421, another region's",
  "4xx": "Other 4xx",
  "5xx": "5xx",
  elsewhere: "Answered elsewhere",
  left: "Clients that left",
};

const signed = (number: number, text: (size: number) => string): string =>
  `${number > 0 ? "+" : number < 0 ? "−" : ""}${text(Math.abs(number))}`;

/** A difference of shares in points, with two digits after the point. */
const pointsText = (share: number): string => hundredthsText(Math.abs(share) * 100);

const signedPoints = (share: number): string => signed(Math.round(share * 10_000), () => pointsText(share));

export function comparedRows({ tables, canaryVerdict }: MetricsHistory): readonly ComparedRow[] {
  const { stable, canary } = tables;
  const [all, own] = [countOf(stable.classes), countOf(canary.classes)];
  return [
    {
      name: "Requests",
      inForce: wholeText(all),
      canary: wholeText(own),
      difference: "",
      words: all + own === 0 ? "none yet" : `${shareText(own, all + own)} of all`,
      isWorse: false,
    },
    ...STATUS_CLASSES.map((name) => classRow(name, tables, canaryVerdict)),
    timeRow("p50", stable.p50, canary.p50),
    timeRow("p99", stable.p99, canary.p99, conditionOf(canaryVerdict, "p99")),
  ];
}

function classRow(
  name: StatusClass,
  { stable, canary }: MetricsHistory["tables"],
  verdict: CanaryVerdict,
): ComparedRow {
  const [count, all] = [canary.classes[name], countOf(canary.classes)];
  const [otherCount, otherAll] = [stable.classes[name], countOf(stable.classes)];
  const interval = differenceOf(count, all, otherCount, otherAll);
  const isJudged = verdict.worse.some((each) => each.class === name);
  // Good answers are not judged; their want is what the others are about.
  const isWorse = isJudged || (name === "2xx" && verdict.worse.length > 0 && (interval?.high ?? 0) < 0);
  return {
    name: CLASS_NAMES[name],
    inForce: shareText(otherCount, otherAll),
    canary: shareText(count, all),
    difference: interval === undefined ? "–" : signedPoints(interval.difference),
    ...(interval !== undefined && { interval }),
    words: interval === undefined ? "nothing to compare" : differenceInWords(interval, count + otherCount, isJudged),
    isWorse,
  };
}

/** A little is not none. */
function shareText(count: number, all: number): string {
  if (all === 0) return "–";
  if (count === 0) return percentText(0);
  return count / all < 0.000_05 ? `< ${percentText(0.000_1)}` : `${hundredthsText((count / all) * 100)} %`;
}

function differenceInWords({ low, high }: ShareDifference, counted: number, isJudged: boolean): string {
  if (counted === 0) return "none of either";
  if (low > 0) return `${pointsText(low)} to ${pointsText(high)} more`;
  if (high < 0) return `${pointsText(high)} to ${pointsText(low)} fewer`;
  return isJudged ? "more, beyond chance" : `same: ${signedPoints(low)} to ${signedPoints(high)}`;
}

function timeRow(
  name: string,
  inForce: number | null,
  canary: number | null,
  condition?: VerdictCondition,
): ComparedRow {
  const isKnown = inForce !== null && canary !== null && inForce > 0;
  const isWorse = condition?.holds === false;
  return {
    name,
    inForce: msText(inForce),
    canary: msText(canary),
    difference: isKnown ? signed(canary - inForce, msText) : "–",
    words: isKnown ? `${moreText(canary / inForce - 1)}${isWorse ? ", beyond chance" : ""}` : "not measured",
    isWorse,
  };
}

/** `+3 %`, `same`. */
export const moreText = (more: number): string =>
  Math.abs(more) < 0.005 ? "same" : signed(more, (size) => percentText(Math.round(size * 100) / 100));

export interface ShownCondition {
  readonly name: string;
  readonly words: string;
  /** `undefined`: not yet, not known, or not judged. */
  readonly holds: boolean | undefined;
}

/** `classes` was always known, also where a former version names no conditions. */
export const conditionOf = (
  { conditions, worse }: CanaryVerdict,
  name: VerdictCondition["name"],
): VerdictCondition | undefined =>
  conditions?.find((each) => each.name === name) ??
  (name === "classes" ? { name, holds: worse.length === 0, value: worse.length, bound: 0 } : undefined);

/** All that the verdict rests on, in the order of the page, and what it cannot see. */
export function shownConditions(verdict: CanaryVerdict, audience: Audience): readonly ShownCondition[] {
  const known = (
    name: VerdictCondition["name"],
    title: (bound: number) => string,
    words: (value: number, bound: number) => string,
    usual: number,
  ): ShownCondition => {
    const condition = conditionOf(verdict, name);
    const { value = null, bound = usual, holds = null } = condition ?? {};
    return {
      name: title(bound),
      words: value === null ? "not measured" : words(value, bound),
      // Too few of both are no fault of the canary.
      holds: holds === false && (name === "requests" || name === "time") ? undefined : (holds ?? undefined),
    };
  };
  return [
    known(
      "requests",
      () => "Enough requests",
      (value, bound) => `${wholeText(value)}; at least ${countText(bound)}`,
      100,
    ),
    known(
      "time",
      () => "Long enough",
      (value, bound) => `${minutes(value)}; at least ${bound / 60}`,
      1_800,
    ),
    audience.share === undefined
      ? {
          name: "Same kind of IDs",
          words: "not chosen by hash: they may differ from the others anyway",
          holds: undefined,
        }
      : { name: "Same kind of IDs", words: "chosen by hash", holds: true },
    known(
      "classes",
      () => "No class is worse",
      () => worseInWords(verdict),
      0,
    ),
    known(
      "p99",
      (bound) => `p99 within ${percentText(bound)}`,
      (value, bound) =>
        value > bound && conditionOf(verdict, "p99")?.holds === true
          ? `${moreText(value)}, which chance explains`
          : moreText(value),
      0.1,
    ),
    { name: "What answers say", words: "not seen: a wrong 200 counts as good", holds: undefined },
  ];
}

const minutes = (seconds: number): string => `${countText(Math.floor(seconds / 60))} min`;

const worseInWords = ({ worse }: CanaryVerdict): string =>
  worse.length === 0
    ? "none is, beyond chance"
    : `${worse.map((each) => each.class).join(", ")} ${worse.length === 1 ? "is" : "are"}, beyond chance`;

export interface ShownVerdict {
  readonly mood: "bad" | "good" | "plain";
  readonly title: string;
  readonly text: string;
}

const HINTS: Readonly<Record<string, string>> = {
  "404": "A region answers 404 to what it does not have: look at where the canary sends these IDs.",
  "421": "A region answers 421 to what lives in another one: look at where the canary sends these IDs.",
  elsewhere: "An origin or a failover took them to another region than the canary says.",
  "5xx": "Look at the regions that the canary sends these IDs to.",
};

/** The verdict first: what to do, and why. Without figures of now it is never a good one. `isOld`: the last question got no answer. */
export function shownVerdict(history: MetricsHistory | undefined, isOld = false): ShownVerdict {
  if (history === undefined) {
    return {
      mood: "plain",
      title: "No figures to judge by yet",
      text: "The first ones come 20 seconds after the start.",
    };
  }
  if (history.source === "none") {
    return {
      mood: "plain",
      title: "No verdict: the counters cannot be read",
      text: "Nothing is known of its answers now.",
    };
  }
  const { verdict, words, worse } = history.canaryVerdict;
  const sentence = words.replace(/\.$/, "");
  if (verdict === "worse") {
    const text = HINTS[worse[0]?.class ?? ""] ?? "Equal tables would differ as much less than once in 1,000 times.";
    return { mood: "bad", title: sentence, text };
  }
  if (verdict === "no-worse" && isOld) {
    return {
      mood: "plain",
      title: "No verdict of now: the gateway does not answer",
      text: "Nothing was worse than in force when it answered last.",
    };
  }
  if (verdict === "no-worse") return { mood: "good", title: "Nothing is worse than in force", text: words };
  const [title = "", ...rest] = sentence.split(": ");
  return { mood: "plain", title, text: `${capital(rest.join(": "))}.` };
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Refused requests of each step as a share of all; `null` where none was counted. The last step is not over: it is left out. */
export const refusedShares = ({ steps }: TableFigures): readonly (number | null)[] | undefined =>
  steps?.requests.map((requests, at) =>
    requests === 0 || at === steps.requests.length - 1 ? null : (steps.refused[at] ?? 0) / requests,
  );

/** `Revision 43 decides about 5 % of the IDs.` */
export const inForceText = (revision: number, { share, countries, entities }: Audience): string =>
  `Revision ${revision} decides about ${
    share !== undefined
      ? `${countText(share)} % of the IDs`
      : countries !== undefined
        ? `IDs of ${countries.join(", ")}`
        : `all IDs of ${(entities ?? []).join(", ")}`
  }.`;

/** Shares are in steps of a ten-thousandth, as in a route's canary. */
export function shareIn(text: string): number | undefined {
  const share = Number(text.trim().replace(/\s*%$/, ""));
  return text.trim() !== "" && share > 0 && share <= 100 && Math.abs(share * 10_000 - Math.round(share * 10_000)) < 1e-6
    ? share
    : undefined;
}
