import type { MintPlanError } from "../../features/mint/table/plan.ts";
import type { MintError, ParseError, Result } from "../../ids/index.ts";
import { problemOf } from "../../problems/index.ts";
import type { RoutingError } from "../../routing/index.ts";
import { groupBy } from "../../routing/layouts/plan.ts";
import { EXIT, type ExitCode, fail } from "../runtime.ts";
import { escapeControls } from "./output.ts";

/** The option of each member of a mint request. */
const OPTION_OF: Readonly<Record<string, string>> = {
  "/entity": "--entity",
  "/layout": "--layout",
  "/country": "--country",
  "/service": "--service",
  "/group": "--group",
  "/shardKey": "--shard-key",
  "/slices": "--slice",
  "/fields": "--field",
};

/** The sentence that the gateway would respond with, with options for members. */
export const detailOf = (error: Failure): string => {
  const { detail } = problemOf(error);
  if (error.reason === "unknown-id" && error.candidates.every(({ entity }) => entity === undefined)) {
    return `"${error.id}" can be read, but every matching layout is excluded.`;
  }
  if (error.reason === "unknown-name") {
    const more = error.more === undefined ? "" : ` and ${error.more} more`;
    return `${detail} It has: ${error.known.join(", ") || "none"}${more}.`;
  }
  if (error.reason === "unassigned-key" && error.key !== undefined) {
    const key = Object.entries(error.key).map(([name, value]) => `${name} ${value}`);
    return `${detail} Its key: ${key.join(", ")}.`;
  }
  if (error.reason !== "malformed-request") return detail;
  const spoken = detail.replace(/"(\w+)"/g, (quoted, member: string) => OPTION_OF[`/${member}`] ?? quoted);
  const option = OPTION_OF[error.pointer ?? ""];
  return option === undefined || spoken.includes(option) ? spoken : `${spoken} (${option})`;
};

/** For stderr, with the reasons of the tried layouts, each reason once. */
export const formatError = (error: Failure): string => {
  const faults = error.reason === "malformed-id" ? error.faults : [];
  const alike = groupBy(faults, (fault) => parseErrorSentence(fault.error));
  const lines = [...alike].map(([sentence, of]) => `  ${of.map(({ layout }) => layout).join(", ")}: ${sentence}`);
  return `${[`error: ${escapeControls(detailOf(error))}`, ...lines].join("\n")}\n`;
};

type Failure = RoutingError | MintError | MintPlanError;

/** Options that are missing, surplus or out of range are wrong use; names and keys that a table lacks are not. */
const MISUSES: readonly Failure["reason"][] = ["malformed-request", "key-out-of-range"];

export function refuse(error: Failure, code?: ExitCode): never {
  return fail(formatError(error), code ?? (MISUSES.includes(error.reason) ? EXIT.usage : EXIT.failed));
}

/** `detail`: a sentence about the options, or about what `code` says. */
export function malformed(detail: string, code?: ExitCode): never {
  return refuse({ reason: "malformed-request", detail }, code);
}

/** The value; an error ends the command. */
export const need = <Value>(result: Result<Value, Failure>): Value => (result.ok ? result.value : refuse(result.error));

/** Why a text is not an ID. Positions count from 1. */
export const parseErrorSentence = (error: ParseError): string => {
  switch (error.reason) {
    case "empty":
      return "the text is empty";
    case "length":
      return `the text has ${error.actual} ${error.actual === 1 ? "character" : "characters"} instead of ${error.expected}`;
    case "whitespace":
      return `character ${error.at + 1} is white space`;
    case "alphabet":
      return `character ${error.at + 1} is not allowed there`;
    case "shape":
      if (error.prefix !== undefined) return `it must begin with ${error.prefix}`;
      return error.suggestion === undefined
        ? `character ${error.at + 1} is out of place`
        : `character ${error.at + 1} is out of place; did you mean ${error.suggestion}?`;
    case "fixed-bits":
      return `${error.field} is ${error.actual} instead of ${error.expected}`;
    case "range":
      return `${error.field ?? "the value"} is outside the range ${error.min} to ${error.max}`;
  }
};
