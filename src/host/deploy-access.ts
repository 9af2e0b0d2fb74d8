import { execFile } from "node:child_process";

/** What an operator should know of a deployment about who may see its own pages; `undefined` when all is said. */
export function accessNote(
  wranglerToml: string,
  args: readonly string[],
  secrets: readonly string[] | undefined,
): string | undefined {
  const isSet = (name: string): boolean =>
    new RegExp(`^\\s*"?${name}"?\\s*=`, "m").test(wranglerToml) ||
    args.some((arg) => arg.startsWith(`${name}:`) || arg.startsWith(`--var=${name}:`)) ||
    secrets?.includes(name) === true;
  if (isSet("OPEN_PAGES")) {
    return "warning: OPEN_PAGES is set: when it is on, everybody who reaches this deployment may change its routing table.";
  }
  if (isSet("ADMIN_TOKENS") || isSet("ACCESS_TEAM_DOMAIN")) return undefined;
  return secrets === undefined
    ? `warning: the secrets could not be listed. Without ADMIN_TOKENS or ACCESS_TEAM_DOMAIN ${CLOSED}`
    : `warning: neither ADMIN_TOKENS nor ACCESS_TEAM_DOMAIN is set: ${CLOSED}`;
}

const CLOSED = "the gateway's own pages answer 401 to everybody (docs/access.md).";

/** Options of the deployment that say which Worker it is. */
const WHICH = new Set(["--name", "--env", "-e", "--config", "-c"]);

/** The names of the Worker's secrets; `undefined` when they cannot be listed. */
export function secretNames(cwd: string, args: readonly string[]): Promise<readonly string[] | undefined> {
  const which = args.flatMap((arg, index) => (WHICH.has(arg) ? [arg, args[index + 1] ?? ""] : []));
  return new Promise((resolve) => {
    execFile("wrangler", ["secret", "list", "--format", "json", ...which], { cwd }, (error, stdout) =>
      resolve(error === null ? namesIn(stdout) : undefined),
    );
  });
}

/** `[{"name": "…", "type": "secret_text"}]` */
export function namesIn(listed: string): readonly string[] | undefined {
  try {
    const secrets: unknown = JSON.parse(listed);
    if (!Array.isArray(secrets)) return undefined;
    return secrets.map((secret: unknown) =>
      typeof secret === "object" && secret !== null && "name" in secret ? String(secret.name) : "",
    );
  } catch {
    return undefined;
  }
}
