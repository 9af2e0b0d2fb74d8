import { wantsLines } from "../../../gateway/negotiate.ts";
import { err, ok, type Result } from "../../../ids/result.ts";
import type { GatewayError } from "../../../problems/index.ts";
import { duplicateKey, parseJson } from "../../../routing/index.ts";

/** Many IDs in one request. */
export interface ManyRequest {
  readonly ids: readonly string[];
  /** Whether it is only asked where they are: no origin is. */
  readonly isLocate: boolean;
  /** Whether answers come as lines, each as soon as it is there. */
  readonly isLines: boolean;
}

export const MANY_MAX = 1_000;

/** The longest IDs have 128 characters, and each stands in quotes. */
export const MANY_BYTES_MAX = 256 * 1024;

const JSON_TYPE = /^application\/(?:[^\s/,;]+\+)?json\s*(?:;|$)/i;
const LINES_TYPE = /^(?:text\/plain|application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines))\s*(?:;|$)/i;

/** Reads a JSON array of IDs, `{"ids": […], "locate": true}`, or an ID a line: bare or as a JSON text. */
export function readMany(body: string, headers: Headers, query: string): Result<ManyRequest, GatewayError> {
  const type = headers.get("content-type") ?? "";
  const isJson = JSON_TYPE.test(type);
  if (!isJson && !LINES_TYPE.test(type)) {
    return malformed("The content type must be application/json, application/x-ndjson or text/plain.");
  }
  if (query !== "" && query !== "?locate=true") return malformed("The only parameter is locate=true.");
  const json = isJson ? parseJson(body) : undefined;
  const twice = json === undefined ? undefined : duplicateKey(body);
  if (twice !== undefined) return malformed(`The body has the key ${JSON.stringify(twice.slice(0, 100))} twice.`);
  const read = isJson ? readJson(json) : readLines(body);
  if (typeof read === "string") return malformed(read);
  const { ids } = read;
  if (ids.length === 0 || ids.length > MANY_MAX)
    return malformed(`Send 1 to ${MANY_MAX} IDs; these are ${ids.length}.`);
  const isLines = wantsLines(headers.get("accept"));
  return ok({ ids, isLocate: query !== "" || read.isLocate, isLines });
}

type Read = Pick<ManyRequest, "ids" | "isLocate">;

const malformed = (detail: string): Result<never, GatewayError> => err({ reason: "malformed-request", detail });

function readJson(json: unknown): Read | string {
  const wanted = 'Send a JSON array of IDs, or {"ids": […], "locate": true}.';
  if (json === undefined) return `The body is not JSON. ${wanted}`;
  const { ids = undefined, locate = false, ...rest } = Array.isArray(json) ? { ids: json } : Object(json);
  if (!Array.isArray(ids)) return `The body has no array of IDs. ${wanted}`;
  if (!ids.every((id) => typeof id === "string")) return `An ID is no JSON string. ${wanted}`;
  const [other] = Object.keys(rest);
  if (other !== undefined) return `The member ${JSON.stringify(other.slice(0, 100))} is unknown. ${wanted}`;
  return typeof locate === "boolean" ? { ids, isLocate: locate } : "The member `locate` is true or false.";
}

function readLines(body: string): Read | string {
  const lines = body.split("\n").map((line) => line.trim());
  const ids = lines.filter((line) => line !== "").map((line) => (line.startsWith('"') ? parseJson(line) : line));
  return ids.every((id) => typeof id === "string") ? { ids, isLocate: false } : "A line is an ID, bare or a JSON text.";
}
