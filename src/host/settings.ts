import { readConfig } from "../edge/config.ts";
import { isUnset, SETTING_NAMES } from "../edge/settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The host decides on these itself, and has no rate limit bindings. */
const NOT_FROM_ENVIRONMENT: readonly string[] = ["CLIENT_ADDRESS", "OPEN_PAGES", "RATE_LIMIT_PERIOD_SECONDS"];

/** Whether the gateway's own pages are open: the default on this machine. */
export const isOpen = (environment: Environment): boolean =>
  environment["ADMIN_TOKENS"] === undefined && environment["ACCESS_TEAM_DOMAIN"] === undefined;

/** The Worker's settings in the environment, and sentences on the invalid ones. */
export function readSettings(environment: Environment) {
  const settings: Record<string, string> = {};
  for (const name of SETTING_NAMES) {
    const value = NOT_FROM_ENVIRONMENT.includes(name) ? undefined : environment[name];
    if (value !== undefined && !isUnset(name, value)) settings[name] = value;
  }
  return { settings, faults: readConfig(settings).faults.map(({ why }) => why) };
}

/** The same. Throws if any is invalid, before anything starts. */
export function settingsFrom(environment: Environment): Readonly<Record<string, string>> {
  const { settings, faults } = readSettings(environment);
  if (faults.length > 0) throw new Error(`invalid settings: ${faults.join("; ")}`);
  return settings;
}
