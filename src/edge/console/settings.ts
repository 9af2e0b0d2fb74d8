import * as v from "valibot";
import { ok, type Result } from "../../ids/result.ts";
import { readOr, readSecret } from "../settings.ts";

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

const NAMES = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(100))), v.minLength(1), v.maxLength(200));

/** Reads the setting `CONSOLE_PREVIEW`. */
export function parseConsolePreview(text: string): Result<ConsolePreview, string> {
  if (text === "off") return ok([]);
  if (text === "all") return ok("all");
  return readOr(readSecret(NAMES, text), PREVIEW_FAULT);
}

const PREVIEW_FAULT = 'CONSOLE_PREVIEW must be off, all, or JSON like ["order", "ride"]: names of entities';
