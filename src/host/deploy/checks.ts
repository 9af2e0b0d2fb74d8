import { text } from "node:stream/consumers";
import { type CompiledTable, parseJson } from "../../routing/index.ts";
import { exitOf } from "../child.ts";
import { LOOPBACK } from "../workerd/config.ts";
import { startWrangler, type Wrangler } from "./wrangler.ts";

/** Origins on loopback addresses, which the edge cannot reach. */
export const unreachableOrigins = (table: CompiledTable) =>
  originsOf(table).flatMap(({ region, url, pointer }) => {
    if (!LOOPBACK.test(new URL(url).hostname)) return [];
    const message = `${url} is a loopback address; use an address of region ${region} that the edge can reach.`;
    return [{ pointer: `${pointer}/url`, message }];
  });

const originsOf = ({ regions }: CompiledTable) =>
  [...regions.values()].flatMap(({ name: region, origins }) =>
    origins.map((origin, index) => ({ ...origin, region, pointer: `/regions/${region}/origins/${index}` })),
  );

/** Origins through bindings that the deployment's configuration lacks: the gateway would answer 503 for them. */
export const missingBindings = (table: CompiledTable, configuration: string) =>
  originsOf(table).flatMap(({ binding, pointer }) => {
    const declared = new RegExp(`^[^#\\n]*\\bbinding["']?\\s*[=:]\\s*["']${binding}["']`, "m");
    if (binding === undefined || declared.test(configuration)) return [];
    const message = `The deployment has no binding ${binding}; add it to wrangler.toml (docs/guides/origins.md).`;
    return [{ pointer: `${pointer}/binding`, message }];
  });

const OPEN =
  "warning: OPEN_PAGES is set: if it is on, anyone who reaches this deployment can change its routing table.";
const CLOSED = "the gateway's own pages answer 401 to everyone (docs/operate/deploy.md).";

/** A warning about who can use the deployment's own pages; `undefined` if access is configured. */
export function accessNote(
  wranglerToml: string,
  args: readonly string[],
  secrets: readonly string[] | undefined,
): string | undefined {
  const isSet = (name: string): boolean =>
    new RegExp(`^\\s*"?${name}"?\\s*=`, "m").test(wranglerToml) ||
    args.some((arg) => arg.startsWith(`${name}:`) || arg.startsWith(`--var=${name}:`)) ||
    secrets?.includes(name) === true;
  if (isSet("OPEN_PAGES")) return OPEN;
  if (isSet("ADMIN_TOKENS") || isSet("ACCESS_TEAM_DOMAIN")) return undefined;
  return secrets === undefined
    ? `warning: the secrets could not be listed. Without ADMIN_TOKENS or ACCESS_TEAM_DOMAIN ${CLOSED}`
    : `warning: neither ADMIN_TOKENS nor ACCESS_TEAM_DOMAIN is set: ${CLOSED}`;
}

/** Deploy options that select the Worker. */
const WORKER_OPTIONS = new Set(["--name", "--env", "-e", "--config", "-c"]);

/** Names of the Worker's secrets; `undefined` if they cannot be listed. */
export async function secretNames(wrangler: Wrangler, args: readonly string[]): Promise<readonly string[] | undefined> {
  const worker = args.flatMap((arg, index) => {
    if (/^--(?:name|env|config)=/.test(arg)) return [arg];
    return WORKER_OPTIONS.has(arg) ? [arg, args[index + 1] ?? ""] : [];
  });
  const child = startWrangler(wrangler, ["secret", "list", "--format", "json", ...worker], "pipe");
  child.stdin?.end();
  child.stderr?.resume();
  const [code, listed] = await Promise.all([exitOf(child), child.stdout === null ? "" : text(child.stdout)]);
  return code === 0 ? namesIn(listed) : undefined;
}

/** Parses `[{"name": "…", "type": "secret_text"}]`. */
export function namesIn(listed: string): readonly string[] | undefined {
  const secrets: unknown = parseJson(listed);
  return Array.isArray(secrets) ? secrets.map((secret) => String(secret?.name)) : undefined;
}
