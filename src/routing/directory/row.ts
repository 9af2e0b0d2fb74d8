import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";

/** In UTF-8: what a caller writes of an entity's ID. */
const OWNER_LENGTH_MAX = 512;

/** A key of 512 bytes and an owner, escaped. */
export const ROW_LENGTH_MAX = 16_384;

const notText = (name: string): string => `Its member \`${name}\` is missing or not a string.`;

const ROW = v.strictObject(
  {
    key: v.string(notText("key")),
    region: v.string(notText("region")),
    owner: v.optional(v.pipe(v.string(notText("owner")), v.maxLength(OWNER_LENGTH_MAX, "Its owner is too long."))),
  },
  ({ expected, path }) =>
    expected === "never"
      ? `It has an unknown member \`${String(path?.[0]?.key)}\`.`
      : expected?.startsWith('"')
        ? notText(expected.slice(1, -1))
        : "It is no JSON object.",
);

/** A row of an import or export: where a key leads, and what it names. */
export type DirectoryRow = Readonly<v.InferOutput<typeof ROW>>;

/** Reads a line of NDJSON. The error is a sentence. */
export const readRow = (text: string): Result<DirectoryRow, string> => {
  const row = v.safeParse(v.pipe(v.string(), v.parseJson(undefined, "It is no JSON object."), ROW), text);
  return row.success ? ok(row.output) : err(row.issues[0].message);
};
