import { parseEnv } from "node:util";
import { HOST_SETTINGS, readConfig, readTraceSettings } from "../../edge/config.ts";
import { isUnset, SETTING_NAMES, type Settings } from "../../edge/settings.ts";
import { command, group, option } from "../command.ts";
import { unreadable } from "../lib/input.ts";
import { escapeControls, jsonText } from "../lib/output.ts";
import { EXIT, type Runtime } from "../runtime.ts";

export const config = group("config", "check a gateway's settings", [
  command({
    name: "check",
    description: "name every invalid setting, and what is wrong with it; values are never printed",
    args: [["[file]", "wrangler's configuration, or a file of NAME=value lines; by default the environment"]],
    options: [
      option("--env <name>", "an environment of wrangler's configuration"),
      option("--json", "one JSON object on stdout"),
    ],
    help: `
Examples:
  $ waybill config check wrangler.toml
  $ waybill config check settings.env
  $ ADMIN_TOKENS="$(cat tokens.json)" waybill config check

Exit code: 0 without faults, 1 with faults or if the file cannot be read.`,
    run: async (runtime, [path], { env, json }) => {
      const settings = path === undefined ? fromEnvironment(runtime) : await readSettings(path, env, runtime);
      const names = Object.keys(settings).filter((name) => settings[name] !== undefined);
      const ofWorker = readConfig(settings as Settings).faults;
      const named = new Set(ofWorker.map(({ setting }) => setting));
      const faults = [...ofWorker, ...readTraceSettings(settings).faults.filter(({ setting }) => !named.has(setting))];
      const unknown = names.filter((name) => ![...SETTING_NAMES, ...HOST_SETTINGS].includes(name));
      if (json) await runtime.print(jsonText({ faults, unknown }));
      else {
        for (const { why } of faults) runtime.report(`error: ${escapeControls(why)}\n`);
        for (const name of unknown) runtime.report(`note: ${escapeControls(name)} is no setting of the gateway\n`);
        if (faults.length === 0) await runtime.print(`settings: no faults; ${names.join(", ") || "none"} set\n`);
      }
      return faults.length === 0 ? EXIT.ok : EXIT.failed;
    },
  }),
]);

type Given = Readonly<Record<string, unknown>>;

const fromEnvironment = (runtime: Runtime): Given =>
  withoutUnset(Object.fromEntries([...SETTING_NAMES, ...HOST_SETTINGS].map((name) => [name, runtime.env(name)])));

async function readSettings(path: string, env: string | undefined, runtime: Runtime): Promise<Given> {
  if (/\.(?:toml|jsonc?)$/.test(path)) return fromWrangler(path, env);
  const file = runtime.readFile(path);
  if (!file.ok) return unreadable(path, file.error);
  // As Node reads lines that end in CRLF. The decoder drops a byte order mark.
  const text = new TextDecoder().decode(file.value).replaceAll("\r\n", "\n");
  // The parser skips invalid lines in silence, so they would count as checked. Quoted values may have several lines.
  const lines = text
    .replace(/=\s*(["'`])[\s\S]*?\1/g, (quoted) => `=${"\n".repeat(quoted.split("\n").length - 1)}`)
    .split("\n");
  const at = lines.findIndex((line) => !/^\s*(?:#.*|(?:export\s+)?[\w.-]+\s*=[^\r]*)?$/.test(line));
  return at === -1 ? withoutUnset(parseEnv(text)) : unreadable(path, `line ${at + 1} is not NAME=value`);
}

/** As the host takes them. */
const withoutUnset = (given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => !isUnset(name, value)));

/** The package has it beside itself where a project deploys to Cloudflare, and not otherwise. */
async function loadWrangler(path: string) {
  try {
    return await import("wrangler");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return unreadable(
      path,
      code === "ERR_MODULE_NOT_FOUND"
        ? "wrangler is not installed here; run npm install --save-dev wrangler, which needs Node 22 or later"
        : `wrangler does not load: ${message}. It needs Node 22 or later`,
    );
  }
}

/** The variables and the rate limits; secrets are not in it. */
async function fromWrangler(path: string, env: string | undefined): Promise<Given> {
  const { unstable_readConfig } = await loadWrangler(path);
  try {
    const { vars, ratelimits = [] } = unstable_readConfig({ config: path, env }, { hideWarnings: true });
    const limits = ratelimits.map(({ name }: { readonly name: string }) => [name, { limit: () => undefined }]);
    return { ...vars, ...Object.fromEntries(limits) };
  } catch (error) {
    return unreadable(path, error instanceof Error ? error.message : String(error));
  }
}
