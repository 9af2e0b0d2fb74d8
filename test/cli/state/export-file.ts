import { createHash } from "node:crypto";

/** Exports as `waybill state export` writes them, made by hand. */

const sha256Of = (text: string | Uint8Array): string => createHash("sha256").update(text).digest("hex");

export interface MadeObject {
  readonly part: string;
  readonly id: string;
  readonly tables: Readonly<Record<string, readonly (readonly unknown[])[]>>;
}

export const HEADER = {
  waybill: "state",
  format: 1,
  version: "1.0.0",
  at: "2026-11-27T12:00:00.000Z",
  deployment: "d".repeat(64),
  from: "stopped",
  parts: ["tables", "sequences"],
};

/** The first row of a table names its columns. */
export function exportText(
  objects: readonly MadeObject[],
  header: object = HEADER,
  values: readonly string[] = [],
): string {
  const lines = [JSON.stringify(header)];
  let rows = 0;
  for (const { part, id, tables } of objects) {
    const own = Object.entries(tables).flatMap(([table, [columns, ...cells]]) => [
      JSON.stringify({ table, columns }),
      ...cells.map((row) => JSON.stringify(row)),
    ]);
    const count = Object.values(tables).reduce((sum, each) => sum + each.length - 1, 0);
    const sha256 = sha256Of(own.map((line) => `${line}\n`).join(""));
    lines.push(
      JSON.stringify({ object: id, part }),
      ...own,
      JSON.stringify({ end: "object", rows: count, sha256, alarm: null }),
    );
    rows += count;
  }
  for (const value of values) {
    const bytes = new TextEncoder().encode(value);
    lines.push(
      JSON.stringify({ value: "pack.x", sha256: sha256Of(bytes), base64: Buffer.from(bytes).toString("base64") }),
    );
  }
  return endedBy(lines, { objects: objects.length, rows, values: values.length });
}

/** The lines with an end that fits them. */
export function endedBy(lines: readonly string[], counts: object): string {
  const text = lines.map((line) => `${line}\n`).join("");
  return `${text}${JSON.stringify({ end: "export", ...counts, sha256: sha256Of(text) })}\n`;
}

export const SEQUENCE: MadeObject = {
  part: "sequences",
  id: "a".repeat(64),
  tables: {
    sequence: [
      ["id", "next", "is_timed"],
      [0, 65, 0],
    ],
  },
};
