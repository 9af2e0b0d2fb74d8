import * as v from "valibot";
import { err, ok, type Result } from "../../../ids/result.ts";
import { duplicateKey } from "../../../routing/schema/json-scanner.ts";
import { isOwner, ownerFault } from "./owner.ts";

const notText = (name: string): string => `Its member \`${name}\` is missing or not a string.`;

/** An entity's ID as a caller writes it: in rows, claims and answers of origins. Half a surrogate pair would be stored as U+FFFD. */
export const ownerSchema = v.pipe(
  v.string(notText("owner")),
  v.check(isOwner, ({ input }) => ownerFault(input) ?? ""),
);

/** A key of 512 bytes and an owner, escaped. */
export const ROW_LENGTH_MAX = 16_384;

const ROW = v.strictObject(
  {
    key: v.string(notText("key")),
    region: v.string(notText("region")),
    owner: v.optional(ownerSchema),
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

export const ROW_TOO_LONG = `It is longer than ${ROW_LENGTH_MAX} characters.`;

/** Reads a line of NDJSON. The error is a sentence. */
export const readRow = (text: string): Result<DirectoryRow, string> => {
  if (text.length > ROW_LENGTH_MAX) return err(ROW_TOO_LONG);
  const row = v.safeParse(v.pipe(v.string(), v.parseJson(undefined, "It is no JSON object."), ROW), text);
  if (!row.success) return err(row.issues[0].message);
  // Readers of JSON do not agree which one counts (RFC 8259 §4).
  const twice = duplicateKey(text);
  return twice === undefined ? ok(row.output) : err(`Its member \`${twice}\` is there twice.`);
};
