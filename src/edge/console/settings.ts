import { ok, type Result } from "../../ids/result.ts";
import { entriesIn, readOr } from "../settings.ts";

/** Entities that the console may show: their names, or all. */
export type ConsolePreview = readonly string[] | "all";

/** A host in small letters, such as a browser sends it, with or without a port. Other services of a machine share its address. */
const HOST =
  /^(?=[^:]{1,253}(?::|$))(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](?::[1-9]\d{0,4})?$/;

/** Reads the setting `CONSOLE_HOST`. */
export const parseConsoleHost = (text: string): Result<string, string> =>
  readOr(HOST.test(text) ? text : undefined, HOST_FAULT);

const HOST_FAULT =
  'CONSOLE_HOST must be a host in small letters, such as "console.example.com" or "console.localhost:8787"';

const NAMES_MAX = 200;
const NAME_CHARACTERS_MAX = 100;

const nameIn = (given: unknown): string | undefined =>
  typeof given === "string" && given.length > 0 && given.length <= NAME_CHARACTERS_MAX ? given : undefined;

/** Reads the setting `CONSOLE_PREVIEW`. */
export function parseConsolePreview(text: string): Result<ConsolePreview, string> {
  if (text === "off") return ok([]);
  if (text === "all") return ok("all");
  return readOr(entriesIn(text, NAMES_MAX, nameIn), PREVIEW_FAULT);
}

const PREVIEW_FAULT = 'CONSOLE_PREVIEW must be off, all, or JSON like ["order", "ride"]: names of entities';
