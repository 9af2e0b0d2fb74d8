import { readConfig } from "../edge/config.ts";
import { type CompiledTable, parsePublicKeys } from "../routing/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets, limits and times are the operator's: they come from the environment. */
const FROM_ENVIRONMENT = [
  "REQUEST_LOG",
  "TABLE_REFRESH_SECONDS",
  "REPORT_SECONDS",
  "CHECK_SECONDS",
  "FIRST_BYTE_DEADLINE_MS",
  "IDLE_DEADLINE_MS",
  "TOTAL_DEADLINE_MS",
  "PUBLIC_ID_KEYS",
  "ORIGIN_SIGNING_KEYS",
  "CLIENT_RATE_LIMIT",
  "ENTITY_RATE_LIMIT",
  "LOOKUP_RATE_LIMIT",
] as const;

/** Who may come in. An empty one is a mistake here, since without any of them everybody may. */
const ACCESS = ["ADMIN_TOKENS", "ACCESS_TEAM_DOMAIN", "ACCESS_AUDIENCE", "ACCESS_OPERATORS"] as const;

/** A demo on this machine is open, unless the environment says who may come in. */
export const isOpen = (environment: Environment): boolean =>
  environment["ADMIN_TOKENS"] === undefined && environment["ACCESS_TEAM_DOMAIN"] === undefined;

/** Whether the log is to be shown as it is written, for a program that reads it. */
export const showsJson = (environment: Environment): boolean => environment["REQUEST_LOG"] === "json";

/**
 * The Worker's settings that the environment has; empty ones, as a script leaves them, count as unset. Throws, before
 * anything runs, with all that the Worker would find wrong with them at its first request.
 */
export function settingsOfOperator(environment: Environment): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of FROM_ENVIRONMENT) {
    const value = environment[name];
    if (value !== undefined && value !== "") settings[name] = value;
  }
  for (const name of ACCESS) {
    const value = environment[name];
    if (value !== undefined) settings[name] = value;
  }
  readConfig(settings);
  return settings;
}

/** What an operator should know of a table whose public IDs lack keys. */
export function missingKeysNote({ entities }: CompiledTable, environment: Environment): string | undefined {
  const keys = environment["PUBLIC_ID_KEYS"];
  const parsed = keys === undefined || keys === "" ? undefined : parsePublicKeys(keys);
  const [sealed, compatible] = parsed?.ok ? [parsed.value.sealed, parsed.value.compatible] : [[], []];
  const lacking = [...entities.values()].flatMap(({ name, public: kind }) => {
    if (kind === undefined) return [];
    const list = kind.as === "sealed" ? sealed : compatible;
    return list.length === 0 ? [`${name} (${kind.as === "sealed" ? "sealed" : "compatible"})`] : [];
  });
  if (lacking.length === 0) return undefined;
  return `note: PUBLIC_ID_KEYS has no keys for the public IDs of ${lacking.join(", ")}: requests for them are answered with 503. See docs/guides/public-ids.md.`;
}
