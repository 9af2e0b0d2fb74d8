import { type CompiledTable, parsePublicKeys } from "../routing/index.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets and limits are the operator's: they come from the environment. */
const FROM_ENVIRONMENT = [
  "PUBLIC_ID_KEYS",
  "ORIGIN_SIGNING_KEYS",
  "CLIENT_RATE_LIMIT",
  "ENTITY_RATE_LIMIT",
  "LOOKUP_RATE_LIMIT",
  "ADMIN_TOKENS",
  "ACCESS_TEAM_DOMAIN",
  "ACCESS_AUDIENCE",
  "ACCESS_OPERATORS",
] as const;

/** A demo on this machine is open, unless the environment says who may come in. */
export const isOpen = (environment: Environment): boolean =>
  environment["ADMIN_TOKENS"] === undefined && environment["ACCESS_TEAM_DOMAIN"] === undefined;

/** The Worker's settings that the environment has. Throws with what is wrong with the keys of public IDs, before anything runs. */
export function settingsOfOperator(environment: Environment): Readonly<Record<string, string>> {
  const keys = environment["PUBLIC_ID_KEYS"];
  const parsed = keys === undefined ? undefined : parsePublicKeys(keys);
  if (parsed?.ok === false) throw new Error(parsed.error);
  return Object.fromEntries(
    FROM_ENVIRONMENT.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** What an operator should know of a table whose public IDs lack keys. */
export function missingKeysNote({ entities }: CompiledTable, environment: Environment): string | undefined {
  const keys = environment["PUBLIC_ID_KEYS"];
  const parsed = keys === undefined ? undefined : parsePublicKeys(keys);
  const [sealed, compatible] = parsed?.ok ? [parsed.value.sealed, parsed.value.compatible] : [[], []];
  const lacking = [...entities.values()].flatMap(({ name, public: kind }) => {
    if (kind === undefined) return [];
    const list = kind.as === "sealed" ? sealed : compatible;
    return list.length === 0 ? [`${name} (${kind.as === "sealed" ? "sealed" : "compatible"})`] : [];
  });
  if (lacking.length === 0) return undefined;
  return `note: PUBLIC_ID_KEYS has no keys for the public IDs of ${lacking.join(", ")}: requests for them are answered with 503. See docs/public-ids.md.`;
}
