import { PAGE_ENTRIES_MAX } from "../../formats/table-requests.ts";
import { type GatewayClient, openGateway, type ShownEvent, type ShownEvents } from "../client/client.ts";
import { answerOf, formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../client/http.ts";
import { command, option, withDefault } from "../command.ts";
import { countingNumber } from "../lib/input.ts";
import { alignColumns, countOf, escapeControls, jsonText, linesText } from "../lib/output.ts";
import { EXIT, fail, type Runtime } from "../runtime.ts";

/** The gateway judges its regions three times as seldom. */
const FOLLOW_MS = 5_000;

export const events = command({
  name: "events",
  description: "list what happened at a gateway: regions and origins down, publications, canaries, errors, machines",
  options: [
    withDefault("--limit <number>", "how many, the newest of them", 20, countingNumber),
    option("--follow", "go on with new ones until Ctrl-C"),
    option("--json", "one JSON object per line, with the figures of each"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill events
  $ waybill events --follow
  $ waybill events --limit 1000 --json | jq -r 'select(.kind == "region") | .words'

The oldest comes first. A gateway keeps the last 1,000 events, for 30 days.
${GATEWAY_HELP}
Exit code: 0, or 1 if the gateway does not respond or cannot read its log.`,
  run: async (runtime, _, { limit, follow = false, json = false, ...options }) => {
    const gateway = openGateway(options, runtime);
    const { events: first, webhook } = await newest(gateway, limit);
    if (first.length === 0) runtime.report(follow ? "no events yet; waiting for the first\n" : "no events yet\n");
    await print(runtime, first, json);
    reportWebhook(runtime, webhook);
    const last = first.at(-1)?.id ?? 0;
    if (follow) await runtime.guard(() => followFrom(gateway, last, { runtime, json }), "");
    return EXIT.ok;
  },
});

const UNREADABLE =
  "error: the gateway cannot read its log of events: it keeps none with REPORT_SECONDS=0, else try again\n";

/** Oldest first. `above`: only those with a higher ID. */
async function newest(gateway: GatewayClient, limit: number, above = 0) {
  const found: ShownEvent[] = [];
  let webhook: ShownEvents["webhook"] = null;
  for (let before: number | null | undefined; before !== null; ) {
    const page = { limit: Math.min(PAGE_ENTRIES_MAX, limit - found.length), ...(before !== undefined && { before }) };
    const read: ShownEvents = answerOf(gateway, await gateway.events(page));
    if (read.source !== "all") fail(UNREADABLE);
    found.push(...read.events.filter(({ id }) => id > above));
    webhook = read.webhook;
    const isEnough = found.length >= limit || (read.events.at(-1)?.id ?? 0) <= above;
    before = isEnough ? null : read.next;
  }
  return { events: found.toReversed(), webhook };
}

interface Following {
  readonly runtime: Runtime;
  readonly json: boolean;
}

/** A gateway that is away for a while is asked again: it may be what one waits for. */
async function followFrom(gateway: GatewayClient, lastId: number, { runtime, json }: Following): Promise<never> {
  let last = lastId;
  let isAway = false;
  for (;;) {
    await runtime.pause(FOLLOW_MS);
    const answer = await gateway.events({ limit: 1 });
    if (!answer.ok || answer.value.source !== "all") {
      const why = answer.ok ? UNREADABLE : formatFailure(gateway.url, answer.error);
      if (!isAway) runtime.report(`${why}waiting until it answers\n`);
      isAway = true;
      continue;
    }
    if (isAway) runtime.report(`${gateway.url} answers again\n`);
    isAway = false;
    if ((answer.value.events[0]?.id ?? 0) <= last) continue;
    const { events: more } = await newest(gateway, Number.MAX_SAFE_INTEGER, last);
    await print(runtime, more, json);
    last = more.at(-1)?.id ?? last;
  }
}

async function print({ print: out, paint }: Runtime, shown: readonly ShownEvent[], json: boolean): Promise<void> {
  const colour = ({ isOver }: ShownEvent) => (isOver === true ? "green" : "yellow");
  const lines = alignColumns(shown.map(({ time, type, words }) => [time, type, words]));
  const painted = lines.map((line, at) => {
    const event = shown[at] as ShownEvent;
    return CALM.has(event.kind) ? line : line.replace(event.type, (type) => paint(colour(event), type));
  });
  await out(json ? jsonText(...shown) : linesText(painted));
}

/** Kinds that operators did on purpose. */
const CALM: ReadonlySet<string> = new Set(["publication", "canary"]);

function reportWebhook(runtime: Runtime, webhook: ShownEvents["webhook"]): void {
  if (webhook?.isGone === true) runtime.report("note: the webhook answered 410, and gets no more events\n");
  else if (webhook?.lastFailure != null) {
    const why = escapeControls(webhook.lastFailure);
    runtime.report(`note: ${countOf(webhook.waiting, "event")} waiting for the webhook: ${why}\n`);
  }
}
