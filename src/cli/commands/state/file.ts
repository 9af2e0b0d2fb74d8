import { createHash } from "node:crypto";
import * as v from "valibot";
import { type ExportHeader, STATE_FORMAT } from "../../../formats/state-export.ts";
import { parseJson } from "../../../routing/schema/json-scanner.ts";
import { linesOf } from "../../lib/input.ts";
import { escapeControls } from "../../lib/output.ts";
import { fail } from "../../runtime.ts";
import type { StateObject } from "./client.ts";

/** A row of SQLite has 2 MB, and a value of KV 4 MB, in base64. */
const LINE_LENGTH_MAX = 8 * 1024 * 1024;

const DIGEST = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const WHOLE = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const PART = v.pipe(v.string(), v.regex(/^[a-z-]{1,32}$/));

const HEADER = v.looseObject({
  waybill: v.literal("state"),
  format: v.number(),
  version: v.string(),
  at: v.string(),
  deployment: v.string(),
  from: v.picklist(["stopped", "running"]),
  parts: v.array(PART),
});
const OBJECT = v.looseObject({ object: DIGEST, part: PART, name: v.optional(v.string()) });
const TABLE = v.looseObject({ table: v.string(), columns: v.array(v.string()) });
const OBJECT_END = v.looseObject({ end: v.literal("object"), rows: WHOLE, sha256: DIGEST, alarm: v.nullable(WHOLE) });
const VALUE = v.looseObject({
  value: v.pipe(v.string(), v.regex(/^[\w.-]{1,512}$/)),
  sha256: DIGEST,
  base64: v.pipe(v.string(), v.base64()),
});
const END = v.looseObject({ end: v.literal("export"), objects: WHOLE, rows: WHOLE, values: WHOLE, sha256: DIGEST });

type Table = v.InferOutput<typeof TABLE>;

/** The contents of a file, in their order. */
export type Entry =
  | { readonly kind: "header"; readonly header: ExportHeader }
  | { readonly kind: "object"; readonly object: StateObject }
  /** `row`: as it stands; `cells`: what it says. */
  | { readonly kind: "table"; readonly table: Table; readonly line: string }
  | { readonly kind: "row"; readonly cells: readonly unknown[]; readonly line: string }
  | {
      readonly kind: "object-end";
      readonly object: StateObject;
      readonly tables: readonly Table[];
      readonly end: v.InferOutput<typeof OBJECT_END>;
    }
  | { readonly kind: "value"; readonly key: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "end"; readonly end: v.InferOutput<typeof END> };

/**
 * Reads an export, and ends the command at the first line that is not as an export has it: cut, changed, in another order, of a later
 * format. Digests are checked as they come, so that nothing of an object that is not whole passes its end.
 */
export async function* readExport(name: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Entry> {
  let number = 0;
  const refuse: Refuse = (why) => fail(`error: ${escapeControls(name)}:${number}: ${why}\nNothing of it was used.\n`);
  const reader = new ExportReader(refuse);
  for await (const line of linesOf(chunks, LINE_LENGTH_MAX)) {
    number += 1;
    yield reader.read(line.ok ? line.value : refuse("the line is longer than any of an export"));
  }
  number += 1;
  reader.end();
}

type Refuse = (why: string) => never;

/** An object whose end has not come. */
interface Open {
  readonly object: StateObject;
  readonly hash: ReturnType<typeof createHash>;
  readonly tables: Table[];
  rows: number;
}

class ExportReader {
  readonly #refuse: Refuse;
  readonly #all = createHash("sha256");
  readonly #seen = new Set<string>();
  readonly #counts = { objects: 0, rows: 0, values: 0 };
  #header: ExportHeader | undefined;
  #open: Open | undefined;
  #isEnded = false;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  read(line: string): Entry {
    if (this.#isEnded) this.#refuse("there is more behind the end of the export");
    const entry = this.#entryOf(line);
    if (entry.kind !== "end") this.#all.update(`${line}\n`);
    return entry;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#refuse(this.#header === undefined ? "the file is empty" : "the file is cut: an export ends with its digest");
  }

  #entryOf(line: string): Entry {
    const json = parseJson(line);
    if (this.#header === undefined) {
      this.#header = headerIn(json, this.#refuse);
      return { kind: "header", header: this.#header };
    }
    return this.#open === undefined ? this.#between(json, this.#header) : this.#inside(this.#open, json, line);
  }

  #between(json: unknown, { parts }: ExportHeader): Entry {
    const object = v.safeParse(OBJECT, json);
    if (object.success) return this.#begin(object.output, parts);
    const value = v.safeParse(VALUE, json);
    if (value.success) {
      const { value: key, sha256, base64 } = value.output;
      const bytes = new Uint8Array(Buffer.from(base64, "base64"));
      if (createHash("sha256").update(bytes).digest("hex") !== sha256) this.#refuse(`value ${key} has another digest`);
      this.#counts.values += 1;
      return { kind: "value", key, bytes };
    }
    const end = v.safeParse(END, json);
    if (!end.success) return this.#refuse("this is no line of an export");
    if (end.output.sha256 !== this.#all.digest("hex"))
      this.#refuse("the lines before have another digest: the file was changed");
    const { objects, rows, values } = this.#counts;
    if (end.output.objects !== objects || end.output.rows !== rows || end.output.values !== values)
      this.#refuse("the counts are not those of the lines before");
    this.#isEnded = true;
    return { kind: "end", end: end.output };
  }

  #begin({ object: id, part, name }: v.InferOutput<typeof OBJECT>, parts: readonly string[]): Entry {
    if (!parts.includes(part)) this.#refuse(`the header names no part ${part}`);
    const key = `${part} ${id}`;
    if (this.#seen.has(key)) this.#refuse(`object ${id} of ${part} is there twice`);
    this.#seen.add(key);
    this.#counts.objects += 1;
    const object = { part, id, ...(name !== undefined && { name }) };
    this.#open = { object, hash: createHash("sha256"), tables: [], rows: 0 };
    return { kind: "object", object };
  }

  #inside(open: Open, json: unknown, line: string): Entry {
    const { tables, hash } = open;
    if (Array.isArray(json)) {
      const { columns } = tables.at(-1) ?? this.#refuse("a row stands before its table");
      if (json.length !== columns.length)
        this.#refuse(`the row has ${json.length} values for ${columns.length} columns`);
      hash.update(`${line}\n`);
      open.rows += 1;
      this.#counts.rows += 1;
      return { kind: "row", cells: json, line };
    }
    const table = v.safeParse(TABLE, json);
    if (table.success) {
      const { table: name } = table.output;
      if (tables.some((before) => before.table === name)) this.#refuse(`table ${name} is there twice`);
      tables.push(table.output);
      hash.update(`${line}\n`);
      return { kind: "table", table: table.output, line };
    }
    return this.#endOf(open, json);
  }

  #endOf({ object, tables, rows, hash }: Open, json: unknown): Entry {
    const end = v.safeParse(OBJECT_END, json);
    if (!end.success) return this.#refuse("this is no line of an object");
    if (end.output.rows !== rows) this.#refuse(`the object has ${rows} rows, and its end says ${end.output.rows}`);
    if (end.output.sha256 !== hash.digest("hex"))
      this.#refuse("the rows of the object have another digest: the file was changed");
    this.#open = undefined;
    return { kind: "object-end", object, tables, end: end.output };
  }
}

function headerIn(json: unknown, refuse: Refuse): ExportHeader {
  const { waybill, format, version } = Object(json) as Partial<ExportHeader>;
  if (waybill !== "state") return refuse("this is no export of a state");
  if (typeof format === "number" && format > STATE_FORMAT)
    return refuse(
      `version ${escapeControls(String(version))} wrote it in format ${format}; this version reads ${STATE_FORMAT}. Update it.`,
    );
  const read = v.safeParse(HEADER, json);
  return read.success ? read.output : refuse("the header is not that of an export");
}
