import { readConfig } from "../edge/config.ts";
import { type CompiledTable, parsePublicKeys } from "../routing/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Worker settings that come from the environment. Empty values count as unset. */
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

/** Access control. Empty values are errors: unset means open. */
const ACCESS = ["ADMIN_TOKENS", "ACCESS_TEAM_DOMAIN", "ACCESS_AUDIENCE", "ACCESS_OPERATORS"] as const;

/** Whether the gateway's own pages are open: the default on this machine. */
export const isOpen = (environment: Environment): boolean =>
  environment["ADMIN_TOKENS"] === undefined && environment["ACCESS_TEAM_DOMAIN"] === undefined;

/** The Worker's settings in the environment. Throws if any is invalid, before anything starts. */
export function settingsFrom(environment: Environment): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of [...FROM_ENVIRONMENT, ...ACCESS]) {
    const value = environment[name];
    if (value || (value !== undefined && ACCESS.some((each) => each === name))) settings[name] = value;
  }
  readConfig(settings);
  return settings;
}

/** A note for a table whose public IDs have no keys. */
export function missingKeysNote({ entities }: CompiledTable, environment: Environment): string | undefined {
  const parsed = parsePublicKeys(environment["PUBLIC_ID_KEYS"] || "{}");
  const missing = [...entities.values()].flatMap(({ name, public: kind }) => {
    if (kind === undefined) return [];
    const as = kind.as === "sealed" ? "sealed" : "compatible";
    return parsed.ok && parsed.value[as].length > 0 ? [] : [`${name} (${as})`];
  });
  if (missing.length === 0) return undefined;
  return `note: PUBLIC_ID_KEYS has no keys for the public IDs of ${missing.join(", ")}: requests for them get 503. See docs/guides/public-ids.md.`;
}
