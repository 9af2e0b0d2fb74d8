import type { Command } from "commander";
import type { Act } from "./action.ts";
import { alignColumns } from "./columns.ts";
import { GATEWAY_HELP, type GatewayOptions, withGateway } from "./gateway-address.ts";
import type { Audience, Status } from "./gateway-answers.ts";
import { type GatewayClient, openGateway } from "./gateway-client.ts";
import { failureText } from "./gateway-failure.ts";
import { printable } from "./printable.ts";
import { refuse } from "./refuse.ts";
import { probeWatched, type Tally } from "./table-probe.ts";
import { EXIT_OF_LAG, goalText, type Lag, lagsOf, sightOf, sightText, truthOf } from "./table-sight.ts";
import {
  type Arrival,
  arrivalText,
  type Patience,
  PROBES_DEFAULT,
  propagationOf,
  unseenText,
  waitOption,
  waitUntilSeen,
} from "./table-wait.ts";
import { countingNumber } from "./values.ts";
import { EXIT, type ExitCode, type World } from "./world.ts";

interface Options extends GatewayOptions {
  readonly probe?: number;
  /** Seconds. */
  readonly wait?: number;
  readonly json?: boolean;
}

/** `waybill table status`: how far the last change has come. */
export const addTableStatus = (parent: Command, act: Act): void => {
  withGateway(
    parent
      .command("status")
      .description("say how far the last change has come: the truth, KV, and what isolates route by")
      .option("--probe <number>", "send so many requests, and count which revision each one saw", countingNumber)
      .addOption(waitOption())
      .option("--json", "one JSON object"),
  )
    .addHelpText("after", HELP)
    .action(act(status));
};

const HELP = `
Examples:
  $ waybill table status
  $ waybill table status --probe 200
  $ waybill table status --probe 200 --wait 300

A probe is a request to /-/ready; which isolate answers it is up to the edge. --wait asks until KV has the last change and so many
probes in a row have seen it, ${PROBES_DEFAULT} without --probe, and says how long that took.
${GATEWAY_HELP}
Exit code: 0 when KV, the isolate that answered and every probe have the last change, canaries included; else the first of
4 KV is still to be brought to it, 5 KV shows something else, 6 the isolate that answered has something else, 7 a probe has;
8 when --wait ended before, 1 when the gateway does not tell.`;

const status = async (world: World, _: readonly string[], options: Options): Promise<ExitCode> => {
  const opened = openGateway(options, world);
  if (!opened.ok) return refuse(opened.error, world);
  const gateway = opened.value;
  const { probe, wait } = options;
  const patience =
    wait === undefined ? undefined : { seconds: wait, probes: probe ?? PROBES_DEFAULT, isThorough: true };
  const arrival = patience && (await waitUntilSeen(gateway, patience, world));
  const known = await gateway.status();
  if (!known.ok) return refuse(failureText(gateway.url, known.error), world);
  // After a wait the probes have been counted.
  const tally = probe === undefined || arrival?.isSeen ? undefined : await probeWatched(gateway, probe, world);
  const lags = lagsOf(known.value, tally?.seen ?? []);
  await world.print(
    options.json ? jsonOf(known.value, lags, tally, arrival) : statusText(known.value, lags, tally, arrival, patience),
  );
  if (arrival !== undefined && patience !== undefined && !arrival.isSeen)
    return unseen(gateway, arrival, patience, world);
  if (tally?.failure !== undefined) return refuse(failureText(gateway.url, tally.failure), world);
  const [first] = lags;
  return first === undefined ? EXIT.ok : EXIT_OF_LAG[first];
};

const unseen = (gateway: GatewayClient, arrival: Arrival, patience: Patience, world: World): ExitCode => {
  world.report(unseenText(gateway.url, arrival, patience));
  return EXIT.unseen;
};

const jsonOf = (
  known: Status,
  behind: readonly Lag[],
  tally: Tally | undefined,
  arrival: Arrival | undefined,
): string => {
  const propagation = arrival && propagationOf(arrival);
  return `${JSON.stringify({ ...known, behind, probes: tally?.seen, propagation })}\n`;
};

const statusText = (
  known: Status,
  lags: readonly Lag[],
  tally: Tally | undefined,
  arrival: Arrival | undefined,
  patience: Patience | undefined,
): string => {
  const { truth, kv, isolate, lastError, canary } = known;
  const rows = [
    ["truth", `revision ${truth.revision}`, truth.time ?? "", truth.digest],
    ["kv", kv ? sightText(sightOf(kv)) : "nothing", kv?.asked ?? "", kv?.digest ?? ""],
    ["isolate", sightText(sightOf(isolate)), `${isolate.source}, ${isolate.ageSeconds} s old`, isolate.digest ?? ""],
    ...(canary ? [["canary", `revision ${canary.revision}`, audienceText(canary), canary.digest]] : []),
  ];
  const notes = [
    ...lags.map((lag) => SENTENCE[lag](goalText(truthOf(known)))),
    ...(lastError ? [`last error: ${lastError}`] : []),
  ];
  const seen = tally?.seen ?? [];
  const probes = seen.map((one) => [`${one.count} of ${tally?.asked ?? 0}`, sightText(one), one.source]);
  const lines = [...alignColumns(rows.map((row) => row.map(printable))), ...notes.map(printable)];
  const all = [...lines, ...(seen.length === 0 ? [] : ["probes", ...alignColumns(probes).map((line) => `  ${line}`)])];
  return `${all.map((line) => `${line}\n`).join("")}${arrival && patience ? arrivalText(arrival, patience) : ""}`;
};

/** What lags, by what it ought to have. */
const SENTENCE: Readonly<Record<Lag, (goal: string) => string>> = {
  pending: (goal) => `KV is being brought to ${goal}`,
  kv: (goal) => `KV does not show ${goal}`,
  isolate: (goal) => `the isolate that answered does not have ${goal} yet`,
  probes: (goal) => `not every probe has seen ${goal}`,
};

/** `5 % of the IDs`. */
export const audienceText = ({ share, countries, entities }: Audience): string => {
  if (share !== undefined) return `${share} % of the IDs`;
  return (countries ?? entities ?? []).join(", ");
};
