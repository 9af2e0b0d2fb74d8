import { type KeyEntry, openGateway } from "../client/client.ts";
import { answerOf, GATEWAY_HELP, GATEWAY_OPTIONS } from "../client/http.ts";
import { command, group, option } from "../command.ts";
import { alignColumns, formatSize, jsonText, linesText } from "../lib/output.ts";
import { EXIT } from "../runtime.ts";

export const idempotency = group("idempotency", "show what a gateway knows of an idempotency key", [
  command({
    name: "show",
    description: "show the requests that used a key: state, ID, region, kept answer",
    args: [["<key>", "as clients send it, quoted or bare"]],
    options: [option("--json", "one JSON object"), ...GATEWAY_OPTIONS],
    help: `
Examples:
  $ waybill idempotency show 8e03978e-40d5-43dd-bc93-6894a57f9324

Each caller has its own keys. States: running (in progress), open (a retry asks the origin again, with the same ID), done
(a retry gets the kept answer).
${GATEWAY_HELP}
Exit code: 0 if the key is known, else 1.`,
    run: async (runtime, [key = ""], options) => {
      const gateway = openGateway(options, runtime);
      const shown = answerOf(gateway, await gateway.idempotency(quoted(key)));
      const { entries } = shown;
      await runtime.print(options.json ? jsonText(shown) : entries.map(formatEntry).join("\n"));
      if (entries.length > 0) return EXIT.ok;
      runtime.report("The key is not known: it was never used, or it has expired.\n");
      return EXIT.failed;
    },
  }),
]);

/** A path cannot have the bare keys `.` and `..`. */
const quoted = (key: string): string => (key.startsWith('"') ? key : `"${key.replaceAll(/["\\]/g, "\\$&")}"`);

function formatEntry({ scope, state, entity, id, region, revision, attempts, startedAt, until, answer }: KeyEntry) {
  const kept = answer === undefined ? "none" : `${answer.status}, ${formatSize(answer.bytes)}`;
  const rows = [
    ["caller", scope === "" ? "without a credential" : `sha256 ${scope}…`],
    ["state", state],
    ["entity", entity],
    ["id", id],
    ["region", region === "" ? "several" : region],
    ["table", `revision ${revision}`],
    ["attempts", String(attempts)],
    ["started", startedAt],
    ["until", until],
    ["answer", kept],
  ];
  return linesText(alignColumns(rows));
}
