import type { CanaryVerdict } from "../../../formats/canary-verdict.ts";
import type { Audience, Status } from "../../../formats/table-api.ts";
import { openGateway, readVerdict } from "../../client/client.ts";
import { answerOf, formatFailure, GATEWAY_HELP, GATEWAY_OPTIONS } from "../../client/http.ts";
import {
  formatNotPropagated,
  formatPropagation,
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
} from "../../client/propagation.ts";
import { command, option } from "../../command.ts";
import { countingNumber } from "../../lib/input.ts";
import { alignColumns, escapeControls, jsonText, linesText, section } from "../../lib/output.ts";
import { EXIT, type ExitCode, fail } from "../../runtime.ts";

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
    const gateway = openGateway(options, runtime);
    const { probe, wait, json } = options;
    const waiting =
      wait === undefined ? undefined : { seconds: wait, probes: probe ?? PROBES_DEFAULT, isThorough: true };
    const result = waiting && (await waitUntilPropagated(gateway, waiting, runtime));
    const status = answerOf(gateway, await gateway.status());
    // After a wait the probes are already counted.
    const tally = probe === undefined || result?.isSeen ? undefined : await probeWatched(gateway, probe, runtime);
    const lags = lagsOf(status, tally?.seen ?? []);
    const propagation = result && propagationOf(result);
    const canaryVerdict = status.canary ? await readVerdict(gateway, status.canary.revision) : undefined;
    await runtime.print(
      json
        ? jsonText({ ...status, canaryVerdict, behind: lags, probes: tally?.seen, propagation })
        : formatStatus(status, lags, tally, canaryVerdict) +
            (result && waiting ? formatPropagation(result, waiting) : ""),
    );
    if (result?.isSeen === false && waiting !== undefined) {
      fail(formatNotPropagated(gateway.url, result, waiting), EXIT.notPropagated);
    }
    if (tally?.failure !== undefined) fail(formatFailure(gateway.url, tally.failure));
    const [first] = lags;
    return first === undefined ? EXIT.ok : LAGS[first][0];
  },
});

const formatStatus = (status: Status, lags: readonly Lag[], tally?: Tally, verdict?: CanaryVerdict): string => {
  const { controlPlane, kv, isolate, lastError, canary } = status;
  const age = `${isolate.source}, ${isolate.ageSeconds} s old`;
  const rows = [
    ["control plane", `revision ${controlPlane.revision}`, controlPlane.time ?? "", controlPlane.digest],
    ["kv", kv ? formatVersion(versionOf(kv)) : "nothing", kv?.checkedAt ?? "", kv?.digest ?? ""],
    ["isolate", formatVersion(versionOf(isolate)), age, isolate.digest ?? ""],
    ...(canary ? [["canary", `revision ${canary.revision}`, formatAudience(canary), canary.digest]] : []),
  ];
  const isEnding = !canary && [kv, isolate].some((place) => place?.canary);
  const target = formatVersion(publishedVersion(status)) + (isEnding ? " without a canary" : "");
  const probes = (tally?.seen ?? []).map((one) => [`${one.count} of ${tally?.asked}`, formatVersion(one), one.source]);
  return linesText([
    ...alignColumns(rows),
    ...(verdict === undefined ? [] : [escapeControls(verdict.words)]),
    ...lags.map((lag) => escapeControls(LAGS[lag][1](target))),
    ...(lastError ? [escapeControls(`last error: ${lastError}`)] : []),
    ...section("probes", alignColumns(probes)),
  ]);
};

/** The exit code and the message of each lag behind a version. */
const LAGS: Readonly<Record<Lag, readonly [ExitCode, (target: string) => string]>> = {
  pending: [EXIT.pending, (target) => `KV is being updated to ${target}`],
  kv: [EXIT.kvBehind, (target) => `KV does not have ${target}`],
  isolate: [EXIT.isolateBehind, (target) => `the responding isolate does not have ${target} yet`],
  probes: [EXIT.probesBehind, (target) => `not every probe saw ${target}`],
};

/** `5 % of the IDs`. */
export const formatAudience = ({ share, countries, entities }: Audience): string => {
  if (share !== undefined) return `${share} % of the IDs`;
  return (countries ?? entities ?? []).join(", ");
};
