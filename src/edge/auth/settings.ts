import * as v from "valibot";
import { err, ok, type Result } from "../../ids/result.ts";
import type { Settings } from "../settings.ts";
import { type AccessSettings, accessSettings } from "./access-settings.ts";
import { ADMIN_TOKENS_FAULT, type AdminToken, parseAdminTokens } from "./admin-tokens.ts";

/** Who may see and change what. With nothing set, nobody. */
export interface AuthSettings {
  /** Everybody is an operator: for one's own machine alone. */
  readonly openPages: boolean;
  readonly tokens: readonly AdminToken[];
  readonly access: AccessSettings | undefined;
}

// workerd gives null for a variable of its own environment that is not set.
const OPEN_PAGES = v.nullish(v.picklist(["on", "off"]), "off");

/** From the environment; or a sentence for each fault, which begins with the setting's name. */
export function readAuthSettings(env: Settings): Result<AuthSettings, readonly string[]> {
  const faults: string[] = [];
  const open = v.safeParse(OPEN_PAGES, env.OPEN_PAGES);
  if (!open.success) faults.push('OPEN_PAGES: must be "on" or "off"');
  const access = v.safeParse(accessSettings, env);
  for (const issue of access.issues ?? []) faults.push(`${v.getDotPath(issue) ?? "env"}: ${issue.message}`);
  const tokens = env.ADMIN_TOKENS === undefined ? [] : parseAdminTokens(env.ADMIN_TOKENS);
  if (tokens === undefined) faults.push(ADMIN_TOKENS_FAULT);
  const isGuarded = env.ADMIN_TOKENS !== undefined || env.ACCESS_TEAM_DOMAIN !== undefined;
  if (open.output === "on" && isGuarded) {
    faults.push("OPEN_PAGES: with it nobody would need ADMIN_TOKENS or Access; set one or the other");
  }
  if (faults.length > 0 || !access.success || tokens === undefined) return err(faults);
  return ok({ openPages: open.output === "on", tokens, access: access.output });
}
