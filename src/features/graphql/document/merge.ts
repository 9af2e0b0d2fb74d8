import { err, ok, type Result } from "../../../ids/result.ts";
import { faultBody } from "./answer.ts";
import type { FoundId } from "./ids.ts";
import type { FieldFailure, Part, Plan, RootField } from "./plan.ts";
import { isList, isNull, isObject, itemsOf, membersOf, rawOf, type Slice, sliceOf, stringOf } from "./slices.ts";
import { askedIds, textOfItem } from "./split.ts";

/** One region's answer to its part. */
export interface PartAnswer {
  /** By response key; `null` for none, `undefined` where the operation was not run. */
  readonly data: ReadonlyMap<string, Slice> | null | undefined;
  readonly errors: readonly ErrorMembers[];
  readonly extensions: Slice | undefined;
}

type ErrorMembers = ReadonlyMap<string, Slice>;

/** Reads an answer of GraphQL; a text says what it is instead. */
export function readAnswer(text: string): Result<PartAnswer, string> {
  const body = sliceOf(text);
  const members = membersIn(body);
  if (members === undefined) return err("no object of JSON");
  const data = members.get("data");
  if (data === undefined && !members.has("errors")) return err("neither data nor errors");
  const fields = membersIn(data);
  if (data !== undefined && fields === undefined && !isNull(data)) return err("data that is no object");
  const errors = readErrors(members.get("errors"));
  if (!errors.ok) return errors;
  if (fields === undefined && errors.value.length === 0) return err("no data, and no error that says why");
  return ok({
    data: data === undefined ? undefined : (fields ?? null),
    errors: errors.value,
    extensions: members.get("extensions"),
  });
}

const membersIn = (slice: Slice | undefined): ReadonlyMap<string, Slice> | undefined =>
  slice !== undefined && isObject(slice) ? membersOf(slice) : undefined;

function readErrors(errors: Slice | undefined): Result<readonly ErrorMembers[], string> {
  if (errors === undefined || isNull(errors)) return ok([]);
  if (!isList(errors)) return err("errors that are no list");
  const read = itemsOf(errors).map(membersIn);
  return read.includes(undefined) ? err("an error that is no object") : ok(read as readonly ErrorMembers[]);
}

/** One region's part with its answer, or why there is none. */
export interface Answered {
  readonly part: Part;
  readonly answer: Result<PartAnswer, FieldFailure>;
}

export interface MergeOptions {
  /** Name of the query's root type. */
  readonly queryType: string;
  /** Fields of the root that are never null; with `.*`, the items of a plural one. */
  readonly nonNull: ReadonlySet<string>;
  /** Limit of values and errors: one entry may stand at many positions. */
  readonly charactersMax: number;
}

/** A result as a server has it. `hasData`: whether it ran the operation. */
export interface Merged {
  readonly body: string;
  readonly hasData: boolean;
}

/** Puts the answers together: keys in document order, errors with their paths, and nulls spread as the specification says. */
export function mergeAnswers(plan: Plan, answers: readonly Answered[], options: MergeOptions): Merged {
  const refused = answers.find(({ answer }) => answer.ok && answer.value.data === undefined);
  // A fault that an origin finds in its part is a fault of the whole.
  if (refused?.answer.ok === true) {
    const errors = refused.answer.value.errors.map((each) => errorText(each, undefined));
    return { body: `{"errors":[${errors.join()}]}`, hasData: false };
  }
  const merge = new Merge(plan, options);
  for (const { part, answer } of answers) merge.add(part, answer);
  if (merge.isTooLong) {
    const message = `The result has more than ${options.charactersMax} characters; ask for less at once.`;
    return { body: faultBody({ code: "RESULT_TOO_LARGE", message }), hasData: false };
  }
  return { body: merge.body(extensionsOf(answers)), hasData: true };
}

/** An error, and the place in the result that it is about. */
interface PlacedError {
  readonly key: string | undefined;
  /** In a plural field that was split; else 0. */
  readonly position: number;
  readonly text: string;
  /** Whether it is about an item of a plural field itself, not about what is in it. */
  readonly isOfItem?: boolean;
}

class Merge {
  readonly #plan: Plan;
  readonly #options: MergeOptions;
  readonly #fields: ReadonlyMap<string, RootField>;
  readonly #order: ReadonlyMap<string, number>;
  /** Raw values by response key. */
  readonly #values = new Map<string, string>();
  readonly #items = new Map<string, string[]>();
  #errors: readonly PlacedError[] = [];
  /** Errors that make a plural field null. The first of several counts: a server goes no further. */
  readonly #nulled = new Map<string, PlacedError>();
  /** The error that makes the whole null. */
  #fatal: PlacedError | undefined;
  readonly #asked = new Map<readonly number[], readonly (FoundId | null)[]>();
  #characters = 0;

  constructor(plan: Plan, options: MergeOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#fields = new Map(plan.fields.map((field) => [field.key, field]));
    this.#order = new Map(plan.fields.map(({ key }, at) => [key, at]));
    for (const { key, kind } of plan.fields) {
      if (kind === "typename") this.#values.set(key, JSON.stringify(options.queryType));
    }
    for (const [key, failure] of plan.failed) {
      if (failure instanceof Map) for (const [at, each] of failure) this.#failItem(key, at, each);
      else this.#failField(key, failure as FieldFailure);
    }
  }

  add(part: Part, answer: Result<PartAnswer, FieldFailure>): void {
    if (answer.ok) this.#addAnswer(part, answer.value);
    else this.#failPart(part, answer.error);
  }

  #addAnswer(part: Part, { data, errors }: PartAnswer): void {
    const placed = errors.map((each) => this.#place(part, each));
    this.#errors = [...this.#errors, ...placed.flat()];
    // The last error is the one that a server stopped at. It is one, however often its ID stands in a list.
    const firsts = this.#inOrder(placed.flatMap(([first]) => first ?? []));
    if (data === null || data === undefined) this.#failWhole(firsts);
    else this.#addFields(part, data, firsts);
  }

  #addFields(part: Part, data: ReadonlyMap<string, Slice>, errors: readonly PlacedError[]): void {
    for (const [key, positions] of part.fields) {
      const value = data.get(key);
      if (positions !== undefined && value !== undefined && isNull(value)) {
        this.#nullField(key, errors.findLast((each) => each.key === key) ?? { key, position: 0, text: "" });
      } else if (positions !== undefined) this.#addItems(key, positions, value, part.region);
      // Without a value: a type condition of the caller's did not hold.
      else if (value !== undefined) this.#values.set(key, rawOf(value));
    }
  }

  #failPart({ fields }: Part, failure: FieldFailure): void {
    for (const [key, positions] of fields) {
      const every = positions ?? [...(this.#fields.get(key)?.list?.items.keys() ?? [])];
      // A null names nothing that failed.
      const all = every.filter((at) => this.#textAt(key, at) !== null);
      if (all.length === 0) this.#failField(key, failure);
      else for (const at of all) this.#failItem(key, at, failure);
    }
  }

  /** A part without data. */
  #failWhole(errors: readonly PlacedError[]): void {
    this.#failAll(errors.at(-1));
    // Its values are not there to say so, but a list without nulls has ended at an item's error.
    for (const error of errors) {
      if (error.isOfItem && this.#hasNonNullItems(error.key)) this.#nullField(error.key as string, error);
    }
  }

  #addItems(key: string, positions: readonly number[], value: Slice | undefined, region: string): void {
    const asked = this.#askedAt(key, positions);
    const items = value !== undefined && isList(value) ? itemsOf(value) : undefined;
    if (items === undefined || items.length !== asked.length) {
      const message = `The region ${region} did not answer one entry for each ID.`;
      for (const at of positions) this.#failItem(key, at, { code: "invalid-response", message, status: 502, region });
      return;
    }
    const byText = new Map(asked.map((item, at) => [textOfItem(item), items[at] as Slice]));
    for (const at of positions) this.#setItem(key, at, rawOf(byText.get(this.#textAt(key, at)) as Slice));
  }

  #textAt(key: string, position: number): string | null {
    return textOfItem(this.#fields.get(key)?.list?.items[position] ?? null);
  }

  #setItem(key: string, position: number, raw: string): void {
    this.#characters += raw.length;
    const items = this.#items.get(key) ?? Array<string>(this.#fields.get(key)?.list?.items.length ?? 0).fill("null");
    items[position] = raw;
    this.#items.set(key, items);
  }

  /** An error of an origin. One about an item of a plural field is about each position of its ID. */
  #place(part: Part, error: ErrorMembers): readonly PlacedError[] {
    const path = error.get("path");
    const steps = path !== undefined && isList(path) ? itemsOf(path) : [];
    const key = steps[0] && stringOf(steps[0]);
    const positions = key === undefined ? undefined : part.fields.get(key);
    if (key === undefined || positions === undefined || steps[1] === undefined) {
      return [{ key, position: 0, text: errorText(error, path && rawOf(path)) }];
    }
    const asked = this.#askedAt(key, positions);
    const item = asked[Number(rawOf(steps[1]))];
    const text = item && textOfItem(item);
    const rest = steps.slice(2).map(rawOf);
    return positions
      .filter((position) => this.#textAt(key, position) === text)
      .filter(() => !this.isTooLong)
      .map((position) => {
        const own = `[${[JSON.stringify(key), position, ...rest].join()}]`;
        const placed = { key, position, text: errorText(error, own), isOfItem: rest.length === 0 };
        this.#characters += placed.text.length;
        return placed;
      });
  }

  get isTooLong(): boolean {
    return this.#characters > this.#options.charactersMax;
  }

  #askedAt(key: string, positions: readonly number[]): readonly (FoundId | null)[] {
    const asked = this.#asked.get(positions) ?? askedIds(this.#fields.get(key)?.list?.items ?? [], positions);
    this.#asked.set(positions, asked);
    return asked;
  }

  #failField(key: string, failure: FieldFailure): void {
    this.#values.set(key, "null");
    const error = { key, position: 0, text: failureText(failure, [key]) };
    this.#errors = [...this.#errors, error];
    if (this.#isNonNull(key)) this.#failAll(error);
  }

  #failItem(key: string, position: number, failure: FieldFailure): void {
    this.#setItem(key, position, "null");
    const error = { key, position, text: failureText(failure, [key, position]) };
    this.#errors = [...this.#errors, error];
    if (!this.#hasNonNullItems(key)) return;
    if (this.#isNonNull(key)) this.#failAll(error);
    else this.#nullField(key, error);
  }

  #hasNonNullItems(key = ""): boolean {
    return this.#options.nonNull.has(`${this.#fields.get(key)?.name}.*`);
  }

  #isNonNull(key: string): boolean {
    return this.#options.nonNull.has(this.#fields.get(key)?.name ?? "");
  }

  #nullField(key: string, error: PlacedError): void {
    const known = this.#nulled.get(key);
    if (known === undefined || this.#compare(error, known) < 0) this.#nulled.set(key, error);
  }

  #failAll(error: PlacedError = { key: undefined, position: 0, text: "" }): void {
    if (this.#fatal === undefined || this.#compare(error, this.#fatal) < 0) this.#fatal = error;
  }

  /** In the order of the document. */
  #inOrder(errors: readonly PlacedError[]): readonly PlacedError[] {
    return errors.toSorted((one, other) => this.#compare(one, other));
  }

  #compare(one: PlacedError, other: PlacedError): number {
    return this.#orderOf(one) - this.#orderOf(other) || one.position - other.position;
  }

  #orderOf({ key = "" }: PlacedError): number {
    return this.#order.get(key) ?? this.#order.size;
  }

  /** Whether a server reaches an error before it stops at one that makes its list, or the whole, null. */
  #isReached(error: PlacedError): boolean {
    if (error.key === undefined) return true;
    const nulled = this.#nulled.get(error.key);
    if (nulled !== undefined && error.position > nulled.position) return false;
    return this.#fatal === undefined || this.#compare(error, this.#fatal) <= 0;
  }

  body(extensions: string | undefined): string {
    const errors = this.#inOrder(this.#errors.filter((each) => this.#isReached(each)));
    const listed = errors.length === 0 ? [] : [`"errors":[${errors.map(({ text }) => text).join()}]`];
    const data = this.#fatal === undefined ? this.#data() : "null";
    return `{${[...listed, `"data":${data}`, ...(extensions === undefined ? [] : [`"extensions":${extensions}`])].join()}}`;
  }

  #data(): string {
    const members = this.#plan.fields.flatMap(({ key }) => {
      const items = this.#items.get(key);
      const value = this.#nulled.has(key) ? "null" : (this.#values.get(key) ?? (items && `[${items.join()}]`));
      return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`];
    });
    return `{${members.join()}}`;
  }
}

/** `locations` are left out: they point into the text of a part, which its caller has never seen. */
function errorText(error: ErrorMembers, path: string | undefined): string {
  const members = [...error].filter(([name]) => name !== "locations" && name !== "path");
  const texts = members.map(([name, slice]) => `${JSON.stringify(name)}:${rawOf(slice)}`);
  return `{${[...texts, ...(path === undefined ? [] : [`"path":${path}`])].join()}}`;
}

/** An error of the gateway's own about a field. */
function failureText({ code, message, region }: FieldFailure, path: readonly (string | number)[]): string {
  return JSON.stringify({ message, path, extensions: { code, ...(region !== undefined && { region }) } });
}

/** Those of the origins, by region: two may use the same names. */
function extensionsOf(answers: readonly Answered[]): string | undefined {
  const own = answers.flatMap(({ part, answer }) =>
    answer.ok && answer.value.extensions !== undefined
      ? [`${JSON.stringify(part.region)}:${rawOf(answer.value.extensions)}`]
      : [],
  );
  return own.length === 0 ? undefined : `{"waybill":{"regions":{${own.join()}}}}`;
}
