import { InvalidArgumentError } from "commander";
import { ADDRESS_VARIABLE, formatFailure, gatewayAddress, readObject, sendRequest } from "../../client/http.ts";
import { command, option, withDefault } from "../../command.ts";
import { escapeControls, jsonText } from "../../lib/output.ts";
import { EXIT, fail, misuse, type Runtime } from "../../runtime.ts";

const DEFAULT_URL = "http://127.0.0.1:8787";

const TIMEOUT_SECONDS_MAX = 300;

const timeout = (text: string): number => {
  const seconds = /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX) return seconds;
  throw new InvalidArgumentError(`A number of seconds above 0, at most ${TIMEOUT_SECONDS_MAX}.`);
};

/** Pages that need no token, and the `status` that each has when all is well. */
const PROBES = {
  ready: { path: "/-/ready", status: "ready" },
  live: { path: "/-/health", status: "ok" },
} as const;

export const health = command({
  name: "health",
  description: "ask a gateway whether it can route requests, for probes of containers and services",
  args: [["[url]", `the gateway (default: ${ADDRESS_VARIABLE} of the environment, or ${DEFAULT_URL})`]],
  options: [
    option("--ready", "whether it has a table to route by (the default)"),
    option("--live", "whether it runs at all"),
    withDefault("--timeout <seconds>", "how long it may take to answer", 5, timeout),
    option("--json", "one JSON object, if the gateway answers and is well"),
  ],
  help: `
No token is needed, and none is sent. Redirects are not followed.

Examples:
  $ waybill health
  $ waybill health http://127.0.0.1:8080 --timeout 2
  $ waybill health --live

Exit code: 0 if it answers and is well, 1 if it is not, does not answer in time, or is no gateway.`,
  run: async (runtime, [given], { ready, live, timeout: seconds, json }) => {
    if (ready && live) return misuse("error: --ready and --live exclude each other\n");
    const kind = live ? "live" : "ready";
    const { url, answer } = await probe(PROBES[kind].path, given, seconds, runtime);
    if (!answer.ok) return fail(formatFailure(url, answer.error));
    const { status, invalidSettings = [] } = (readObject(answer.value.bytes) ?? {}) as ProbeAnswer;
    if (status !== PROBES[kind].status) return fail(`error: ${escapeControls(url)} is no gateway: it has no status\n`);
    const settings = [invalidSettings].flat().map(String);
    if (json) {
      await runtime.print(jsonText({ url, probe: kind, status, invalidSettings: settings }));
      return EXIT.ok;
    }
    const invalid = settings.join(", ");
    const note = invalid === "" ? "" : `; invalid settings: ${invalid}`;
    await runtime.print(`${escapeControls(`${url}: ${kind}${note}`)}\n`);
    return EXIT.ok;
  },
});

interface ProbeAnswer {
  readonly status?: unknown;
  readonly invalidSettings?: unknown;
}

/** Asks without the token of the environment: a probe needs none. */
async function probe(path: string, given: string | undefined, seconds: number, runtime: Runtime) {
  const gateway = given ?? (runtime.env(ADDRESS_VARIABLE) || DEFAULT_URL);
  const address = gatewayAddress({ gateway }, { ...runtime, env: () => undefined });
  if (!address.ok) return misuse(address.error);
  const { url } = address.value;
  const by = { fetch: runtime.get ?? runtime.fetch, deadline: runtime.deadline };
  return { url, answer: await sendRequest(address.value, { method: "GET", path }, by, seconds * 1000) };
}
