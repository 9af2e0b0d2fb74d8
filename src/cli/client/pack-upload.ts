import * as v from "valibot";
import { readHeader } from "../../features/packs/table/pack.ts";
import { faultsSchema, type StoredPack } from "../../formats/table-api.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import type { DeclaredTable } from "../../routing/schema/table.ts";
import { countOf, escapeControls, formatSize, startProgress } from "../lib/output.ts";
import { packFile, sha256 as sha256Of } from "../lib/packs.ts";
import { fail, type Runtime } from "../runtime.ts";
import type { GatewayClient, PackPart } from "./client.ts";
import { answerOf, formatFailure, type GatewayFailure } from "./http.ts";

/** The parts of a pack that the gateway does not have. */
export interface PackUpload {
  readonly name: string;
  readonly sha256: string;
  /** In upload order: the header comes first, since it verifies the pages. */
  readonly parts: readonly PackPart[];
  readonly bytes: number;
}

/** The missing parts of a table's packs, read from the folder beside it. */
export const planUploads = async (
  gateway: GatewayClient,
  { packs = {} }: Pick<DeclaredTable, "packs">,
  tablePath: string,
  runtime: Pick<Runtime, "readFile">,
): Promise<readonly PackUpload[]> => {
  const uploads = new Map<string, PackUpload>();
  for (const [name, { sha256 }] of Object.entries(packs)) {
    if (uploads.has(sha256)) continue;
    const stored = answerOf(gateway, await gateway.pack(sha256));
    if (stored.complete) continue;
    const read = await lackingParts(stored, packFile(tablePath, sha256), runtime);
    const parts = read.ok
      ? read.value
      : fail(`error: the gateway is missing parts of pack ${escapeControls(name)}, and ${read.error}\n`);
    uploads.set(sha256, { name, sha256, parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes.length, 0) });
  }
  return [...uploads.values()];
};

const lackingParts = async (
  { sha256, header: hasHeader, missing }: StoredPack,
  path: string,
  runtime: Pick<Runtime, "readFile">,
): Promise<Result<readonly PackPart[], string>> => {
  const file = runtime.readFile(path);
  if (!file.ok) return err(`${escapeControls(path)} cannot be read: ${file.error}`);
  const header = await readHeader(file.value, sha256Of, sha256);
  if (!header.ok || header.value.bytes !== file.value.length) {
    return err(`${escapeControls(path)} is not that pack: \`waybill table check\` says more`);
  }
  const { headerBytes, pages } = header.value;
  const lacking = new Set(missing ?? pages.map(({ number }) => number));
  const first: PackPart = { part: "header", bytes: file.value.subarray(0, headerBytes) };
  const others = pages
    .filter(({ number }) => lacking.has(number))
    .map(({ number, offset, bytes }) => ({ part: number, bytes: file.value.subarray(offset, offset + bytes) }));
  // With all pages present, only the header is missing.
  return ok(hasHeader && others.length > 0 ? others : [first, ...others]);
};

/** Uploads missing parts with progress on stderr. Uploaded parts are kept after an error. */
export const sendUploads = async (
  gateway: GatewayClient,
  uploads: readonly PackUpload[],
  isQuiet: boolean,
  runtime: Runtime,
): Promise<void> => {
  for (const upload of uploads) {
    const label = escapeControls(`uploading pack ${upload.name}`);
    const progress = startProgress({ label, bytes: upload.bytes, isQuiet }, runtime);
    await sendOne(gateway, upload, progress.add).finally(progress.clear);
    if (!isQuiet) runtime.report(`uploaded ${formatUpload(summaryOf(upload))}\n`);
  }
};

const sendOne = async (gateway: GatewayClient, { name, sha256, parts }: PackUpload, add: (bytes: number) => void) => {
  let isWhole = false;
  for (const [at, part] of parts.entries()) {
    const answer = await gateway.putPart(sha256, part);
    if (!answer.ok) {
      const arrived = escapeControls(`${at} of ${countOf(parts.length, "part")} of pack ${name} arrived`);
      const stays = at === 0 ? "" : `  ${arrived} and are kept; run the same command to send the rest\n`;
      fail(formatFailure(gateway.url, answer.error) + stays);
    }
    add(part.bytes.length);
    isWhole = answer.value.complete;
  }
  const what = `pack ${escapeControls(name)} is incomplete at the gateway`;
  if (!isWhole) fail(`error: ${what}: some parts were lost; run the same command to send them\n`);
};

/** Whether the only faults that a gateway finds are the packs to be uploaded. */
export const isForUploads = (
  failure: GatewayFailure,
  { packs = {} }: Pick<DeclaredTable, "packs">,
  uploads: readonly PackUpload[],
): boolean => {
  if (failure.reason !== "problem" || failure.problem.slug !== "invalid-table") return false;
  const read = v.safeParse(v.object({ ...faultsSchema.entries, faultCount: v.number() }), failure.problem.members);
  if (!read.success || read.output.faultCount !== read.output.faults.length) return false;
  const lacking = new Set(uploads.map(({ sha256 }) => sha256));
  const pointers = Object.entries(packs).flatMap(([name, { sha256 }]) =>
    lacking.has(sha256) ? [`/packs/${name}`] : [],
  );
  return read.output.faults.every(({ kind, pointer }) => kind === "pack" && pointers.includes(pointer));
};

export const summaryOf = ({ name, sha256, parts, bytes }: PackUpload) => ({
  pack: name,
  sha256,
  parts: parts.length,
  bytes,
});

/** `pack shards: 34 parts, 33.4 MB`. */
export const formatUpload = ({ pack, parts, bytes }: ReturnType<typeof summaryOf>): string =>
  escapeControls(`pack ${pack}: ${countOf(parts, "part")}, ${formatSize(bytes)}`);

/** Shown before the question, since an upload can take a while. */
export const formatUploads = (uploads: readonly PackUpload[]): string =>
  uploads.map((upload) => `to upload first: ${formatUpload(summaryOf(upload))}\n`).join("");
