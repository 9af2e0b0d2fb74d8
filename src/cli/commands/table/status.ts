import type { Audience, Status } from "../../../published/table-api.ts";
import { command, option } from "../../command.ts";
import { openGateway } from "../../gateway/client.ts";
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
  probeWatched,
  propagationOf,
  publishedVersion,
  type Tally,
  versionOf,
  waitOption,
  waitUntilPropagated,
} from "../../gateway/propagation.ts";
import { countingNumber } from "../../lib/input.ts";
import { alignColumns, escapeControls, linesText } from "../../lib/output.ts";
import { EXIT, fail } from "../../runtime.ts";

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
    const { probe, wait, json } = options;
    const waiting =
      wait === undefined ? undefined : { seconds: wait, probes: probe ?? PROBES_DEFAULT, isThorough: true };
    const result = waiting && (await waitUntilPropagated(gateway, waiting, runtime));
    const status = await gateway.status();
    if (!status.ok) return fail(formatFailure(gateway.url, status.error), runtime);
    // After a wait the probes are already counted.
    const tally = probe === undefined || result?.isSeen ? undefined : await probeWatched(gateway, probe, runtime);
    const lags = lagsOf(status.value, tally?.seen ?? []);
    const propagation = result && propagationOf(result);
    await runtime.print(
      json
        ? `${JSON.stringify({ ...status.value, behind: lags, probes: tally?.seen, propagation })}\n`
        : formatStatus(status.value, lags, tally) + (result && waiting ? formatPropagation(result, waiting) : ""),
    );
    if (result?.isSeen === false && waiting !== undefined) {
      runtime.report(formatNotPropagated(gateway.url, result, waiting));
      return EXIT.notPropagated;
    }
    if (tally?.failure !== undefined) return fail(formatFailure(gateway.url, tally.failure), runtime);
    const [first] = lags;
    return first === undefined ? EXIT.ok : EXIT_OF_LAG[first];
  },
});

const formatStatus = (status: Status, lags: readonly Lag[], { asked, seen }: Tally = NO_PROBES): string => {
  const { controlPlane, kv, isolate, lastError, canary } = status;
  const age = `${isolate.source}, ${isolate.ageSeconds} s old`;
  const rows = [
    ["control plane", `revision ${controlPlane.revision}`, controlPlane.time ?? "", controlPlane.digest],
    ["kv", kv ? formatVersion(versionOf(kv)) : "nothing", kv?.checkedAt ?? "", kv?.digest ?? ""],
    ["isolate", formatVersion(versionOf(isolate)), age, isolate.digest ?? ""],
    ...(canary ? [["canary", `revision ${canary.revision}`, formatAudience(canary), canary.digest]] : []),
  ];
  const target = formatPublishedVersion(publishedVersion(status));
  const probes = seen.map((one) => [`${one.count} of ${asked}`, formatVersion(one), one.source]);
  return linesText([
    ...alignColumns(rows.map((row) => row.map(escapeControls))),
    ...lags.map((lag) => escapeControls(SENTENCE[lag](target))),
    ...(lastError ? [escapeControls(`last error: ${lastError}`)] : []),
    ...(seen.length === 0 ? [] : ["probes", ...alignColumns(probes).map((line) => `  ${line}`)]),
  ]);
};

const NO_PROBES: Tally = { asked: 0, seen: [], failure: undefined };

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
