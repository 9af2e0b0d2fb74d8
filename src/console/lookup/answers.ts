import { effect, signal } from "@preact/signals";
import type { EntityPreview, RouteRevisions } from "../../formats/console-api.ts";
import { announcement } from "../app/announce.ts";
import { call, type Problem } from "../app/api.ts";
import { gatewayNow } from "../app/clock.ts";
import { keyed, knownTable, loadTable, mayView, namesProblem, reader } from "../app/session.ts";
import { type Asked, ask, keyPath, previewOf } from "./ask.ts";
import type { Pasted } from "./read-pasted.ts";
import { chosenOf } from "./reader.ts";
import { problemWords } from "./verdict/refusals.ts";

/** Answers of the gateway about IDs, as long as the page lives: a click or Back loses none of them. */

export type Loaded<Value> = { readonly problem?: Problem; readonly value?: Value; readonly isBusy?: boolean };

export interface Answer extends Loaded<Asked> {
  readonly preview?: Loaded<EntityPreview> & { readonly askedAtMs?: number };
}

const KEPT_MAX = 200;

/** By the pasted text. */
const answers = signal<ReadonlyMap<string, Answer>>(new Map());

export const answerOf = ({ source }: Pasted): Answer => answers.value.get(source) ?? {};

function set({ source }: Pasted, answer: Answer): void {
  const others = [...answers.peek()].filter(([other]) => other !== source);
  answers.value = new Map([...others.slice(1 - KEPT_MAX), [source, answer]]);
}

/** The last question counts: an earlier one that is answered later says nothing. */
const turns = new Map<string, number>();

export async function askOne(pasted: Pasted): Promise<void> {
  if (answerOf(pasted).isBusy) return;
  const turn = (turns.get(pasted.source) ?? 0) + 1;
  turns.set(pasted.source, turn);
  set(pasted, { isBusy: true });
  await namesAreThere();
  let last: Asked | undefined;
  const show = (next: Answer): void => {
    if (turns.get(pasted.source) === turn) set(pasted, { ...withPreview(pasted), ...next });
  };
  const problem = await ask(pasted, keyed.value, (value) => {
    last = value;
    show({ value });
  });
  if (problem !== undefined) show({ problem });
  announcement.value = problem === undefined ? toldText(last) : problem.title;
  // The ladder is of the table that decided.
  if (mayView.value && last?.revision !== undefined && last.revision > (knownTable.value?.revision ?? 0)) {
    void loadTable();
  }
}

/** Since when each route of the table is as it is. To ask sends no ID. */
export const routeRevisions = signal<RouteRevisions | undefined>(undefined);
/** The table that was asked about last. */
let askedRevision: number | undefined;

export async function askRouteRevisions(revision: number): Promise<void> {
  if (askedRevision === revision) return;
  askedRevision = revision;
  const answer = await call<RouteRevisions>("/-/console/routes");
  if (answer.ok) routeRevisions.value = answer.value;
}

const NAMES_WAIT_MS = 3_000;

/** Soon after signing in the page does not know yet which entities have keys of a directory. */
function namesAreThere(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, NAMES_WAIT_MS);
    const stop = effect(() => {
      if (reader.value.knows === "nothing" && namesProblem.value === undefined) return;
      clearTimeout(timer);
      resolve();
      // Not before the effect itself is there.
      queueMicrotask(() => stop());
    });
  });
}

/** An entity that is shown stays. */
function withPreview(pasted: Pasted): Pick<Answer, "preview"> {
  const { preview } = answers.peek().get(pasted.source) ?? {};
  return preview === undefined ? {} : { preview };
}

/** The answer in one sentence, for those who do not see it. */
function toldText(asked: Asked | undefined): string {
  const region = asked?.whole?.region ?? asked?.explanation.decision?.region;
  if (region !== undefined) return `It goes to ${region}.`;
  const { problem } = asked?.whole ?? {};
  const reason = asked?.explanation.error?.reason;
  return problem?.title ?? (reason && problemWords(reason)) ?? "No region is known for it.";
}

/** Where the entity itself can be asked for; `undefined`: its owner is not known. `alone`: by the ID. */
export function previewPath(pasted: Pasted, asked: Asked): { readonly path: string | undefined } | undefined {
  const { explanation } = asked;
  if (explanation.decision !== undefined || explanation.publicOf !== undefined) return { path: undefined };
  const path = ownPathOf(pasted, asked);
  return path === undefined && chosenOf(explanation) === undefined ? undefined : { path };
}

/** The entity's own path, for a text that alone says no entity or another one. */
function ownPathOf({ id, path }: Pasted, { whole }: Asked): string | undefined {
  const { owner, region, source, ids = [] } = whole ?? {};
  if (region === undefined || source !== undefined) return undefined;
  const ofKey = keyed.value.find(({ entity }) => entity === owner);
  if (ofKey !== undefined) return keyPath(ofKey, id);
  const placed = ids.find(({ place }) => place === "path");
  const own = placed && reader.value.ownPath(placed.entity, placed.layout ?? "", id);
  return own !== undefined && path?.startsWith(own) ? own : undefined;
}

/** The entity itself, as its region answers. */
export async function showEntity(pasted: Pasted, path: string | undefined): Promise<void> {
  const show = (preview: NonNullable<Answer["preview"]>) =>
    set(pasted, { ...answers.peek().get(pasted.source), preview });
  show({ isBusy: true });
  const answer = await previewOf(pasted.id, path);
  show(answer.ok ? { value: answer.value, askedAtMs: gatewayNow() } : { problem: answer.problem });
  announcement.value = answer.ok ? `The entity answered with status ${answer.value.status}.` : answer.problem.title;
}
