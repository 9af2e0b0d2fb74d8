import { CORE_SCHEMA, loadAll, mapTag, mergeTag, seqTag, strTag, YAMLException } from "js-yaml";
import { err, ok, type Result } from "../../../ids/index.ts";
import { duplicateKey, parseJson } from "../../../routing/schema/json-scanner.ts";
import { type Members, objectOf } from "../../lib/json-values.ts";

/** An OpenAPI document as plain values. Its content is untrusted. */

/** The largest known public documents: GitHub's with its references resolved has 78 MB, Microsoft Graph's 47 MB. */
export const DOCUMENT_BYTES_MAX = 96 * 1024 * 1024;

/** Reads YAML 1.2 or JSON. The error is a sentence. */
export const readDocument = (bytes: Uint8Array): Result<Members, string> => {
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = parseText(text);
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/\n.*/s, "") : String(error);
    return err(/call stack/.test(message) ? "it is nested too deeply" : message);
  }
  const document = objectOf(value);
  const version = document?.["openapi"];
  if (document === undefined) return err("it is not an object");
  if (typeof version === "string" && /^3\.\d+\.\d+/.test(version)) return ok(document);
  const said = version ?? document["swagger"];
  if (typeof said !== "string" && typeof said !== "number") return err("it has no `openapi` with a version");
  return err(`it is of version ${said}, but only 3.x is supported`);
};

/** JSON is valid YAML, but the JSON parser is ten times faster. */
const parseText = (text: string): unknown => {
  if (text.trimStart().startsWith("{")) {
    const json = parseJson(text);
    if (json !== undefined) {
      const twice = duplicateKey(text);
      if (twice !== undefined) throw new Error(duplicated(twice));
      return json;
    }
    // YAML in flow style, or faulty JSON: the YAML parser reports the line.
  }
  return parseYaml(text);
};

const duplicated = (key: string): string => `the key ${JSON.stringify(key)} is duplicated in one object`;

/** Deeper than any document, and far below the stack limit. */
const DEPTH_MAX = 256;

/** An alias is not expanded, but a merge copies keys. */
const MERGED_KEYS_MAX = 1_000_000;

/** Tags of an application, such as `!Sub` of CloudFormation: the value is read as if it had none. */
const OTHER_TAG = { tagName: "", matchByTagPrefix: true, identify: () => false };

/** Merge keys are no YAML 1.2, but documents use them, and other readers of OpenAPI follow them. */
const SCHEMA = CORE_SCHEMA.withTags(
  mergeTag,
  { ...strTag, ...OTHER_TAG },
  { ...seqTag, ...OTHER_TAG },
  { ...mapTag, ...OTHER_TAG },
);

const parseYaml = (text: string): unknown => {
  try {
    const documents = loadAll(text, { schema: SCHEMA, maxDepth: DEPTH_MAX, maxTotalMergeKeys: MERGED_KEYS_MAX });
    if (documents.length > 1) throw new Error(`it has ${documents.length} YAML documents, but one is read`);
    return documents[0];
  } catch (error) {
    if (!(error instanceof YAMLException) || error.mark === undefined) throw error;
    const { buffer, position, line } = error.mark;
    const isTwice = error.reason === "duplicated mapping key";
    throw new Error(`${isTwice ? duplicated(keyAt(buffer, position)) : error.reason}, on line ${line + 1}`);
  }
};

/** A key of a mapping. The parser's position is behind the quote of one. */
const keyAt = (text: string, position: number): string => {
  const quote = /["']/.exec(text[position - 1] ?? "")?.[0];
  const end = quote === undefined ? /\s*(?::\s|:?$)/m : new RegExp(quote);
  return text.slice(position, position + KEY_LENGTH_MAX).split(end, 1)[0] as string;
};

/** A longer key is cut in a message. */
const KEY_LENGTH_MAX = 200;

/** An own member, never an inherited one: a document may name one `__proto__`. */
export const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
