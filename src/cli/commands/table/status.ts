import type { Audience, Status } from "../../../published/table-api.ts";
import { command, option } from "../../command.ts";
import { type GatewayClient, openGateway } from "../../gateway/client.ts";
import { formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../../gateway/http.ts";
import {
  EXIT_OF_LAG,
  formatNotPropagated,
  formatPropagation,
  formatPublishedVersion,
  formatVersion,
  type Lag,
  lagsOf,
  PROBES_DEFAULT,
  type PropagationResult,
  probeWatched,
  propagationOf,
  publishedVersion,
  type Tally,
  versionOf,
  type WaitOptions,
  waitOption,
  waitUntilPropagated,
} from "../../gateway/propagation.ts";
import { countingNumber } from "../../lib/input.ts";
import { alignColumns, escapeControls } from "../../lib/output.ts";
import { EXIT, type ExitCode, fail, type Runtime } from "../../runtime.ts";

/** `waybill table status`: how far the last change has propagated. */
export const tableStatus = command({
  name: "status",
  description: "show how far the last change has propagated: control plane, KV, isolates",
  options: [
    option("--probe <number>", "send this many requests and count the revision that each one saw", countingNumber),
    waitOption(),
    option("--json", "one JSON object"),
    ...GATEWAY_OPTIONS,
  ],
  help: `
Examples:
  $ waybill table status
  $ waybill table status --probe 200
  $ waybill table status --probe 200 --wait 300

A probe is a request to /-/ready; the edge chooses the isolate. --wait polls until KV has the last change and this many
consecutive probes have seen it, ${PROBES_DEFAULT} without --probe, and prints how long that took.
${GATEWAY_HELP}
Exit code: 0 if KV, the responding isolate and every probe have the last change, canaries included; else the first of
4 not yet written to KV, 5 KV does not have it, 6 the responding isolate does not have it, 7 a probe did not see it;
8 if --wait timed out, 1 if the gateway does not respond.`,
  run: async (runtime, _, options) => {
    const opened = openGateway(options, runtime);
    if (!opened.ok) return fail(opened.error, runtime);
    const gateway = opened.value;
    const { probe, wait } = options;
    const waitOptions =
      wait === undefined ? undefined : { seconds: wait, probes: probe ?? PROBES_DEFAULT, isThorough: true };
    const propagation = waitOptions && (await waitUntilPropagated(gateway, waitOptions, runtime));
    const known = await gateway.status();
    if (!known.ok) return fail(formatFailure(gateway.url, known.error), runtime);
    // After a wait the probes are already counted.
    const tally = probe === undefined || propagation?.isSeen ? undefined : await probeWatched(gateway, probe, runtime);
    const lags = lagsOf(known.value, tally?.seen ?? []);
    await runtime.print(
      options.json
        ? jsonOf(known.value, lags, tally, propagation)
        : formatStatus(known.value, lags, tally, propagation, waitOptions),
    );
    if (propagation !== undefined && waitOptions !== undefined && !propagation.isSeen)
      return unseen(gateway, propagation, waitOptions, runtime);
    if (tally?.failure !== undefined) return fail(formatFailure(gateway.url, tally.failure), runtime);
    const [first] = lags;
    return first === undefined ? EXIT.ok : EXIT_OF_LAG[first];
  },
});

const unseen = (
  gateway: GatewayClient,
  propagation: PropagationResult,
  options: WaitOptions,
  runtime: Runtime,
): ExitCode => {
  runtime.report(formatNotPropagated(gateway.url, propagation, options));
  return EXIT.notPropagated;
};

const jsonOf = (
  known: Status,
  behind: readonly Lag[],
  tally: Tally | undefined,
  result: PropagationResult | undefined,
): string => {
  const propagation = result && propagationOf(result);
  return `${JSON.stringify({ ...known, behind, probes: tally?.seen, propagation })}\n`;
};

const formatStatus = (
  known: Status,
  lags: readonly Lag[],
  tally: Tally | undefined,
  propagation: PropagationResult | undefined,
  options: WaitOptions | undefined,
): string => {
  const { controlPlane: published, kv, isolate, lastError, canary } = known;
  const rows = [
    ["control plane", `revision ${published.revision}`, published.time ?? "", published.digest],
    ["kv", kv ? formatVersion(versionOf(kv)) : "nothing", kv?.checkedAt ?? "", kv?.digest ?? ""],
    [
      "isolate",
      formatVersion(versionOf(isolate)),
      `${isolate.source}, ${isolate.ageSeconds} s old`,
      isolate.digest ?? "",
    ],
    ...(canary ? [["canary", `revision ${canary.revision}`, formatAudience(canary), canary.digest]] : []),
  ];
  const notes = [
    ...lags.map((lag) => SENTENCE[lag](formatPublishedVersion(publishedVersion(known)))),
    ...(lastError ? [`last error: ${lastError}`] : []),
  ];
  const seen = tally?.seen ?? [];
  const probes = seen.map((one) => [`${one.count} of ${tally?.asked ?? 0}`, formatVersion(one), one.source]);
  const lines = [...alignColumns(rows.map((row) => row.map(escapeControls))), ...notes.map(escapeControls)];
  const all = [...lines, ...(seen.length === 0 ? [] : ["probes", ...alignColumns(probes).map((line) => `  ${line}`)])];
  return `${all.map((line) => `${line}\n`).join("")}${propagation && options ? formatPropagation(propagation, options) : ""}`;
};

/** What lags behind which version. */
const SENTENCE: Readonly<Record<Lag, (target: string) => string>> = {
  pending: (target) => `KV is being updated to ${target}`,
  kv: (target) => `KV does not have ${target}`,
  isolate: (target) => `the responding isolate does not have ${target} yet`,
  probes: (target) => `not every probe saw ${target}`,
};

/** `5 % of the IDs`. */
export const formatAudience = ({ share, countries, entities }: Audience): string => {
  if (share !== undefined) return `${share} % of the IDs`;
  return (countries ?? entities ?? []).join(", ");
};
