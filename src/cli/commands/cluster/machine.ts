import { dirname, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { MachineFile, Members } from "../../../host/machines/members.ts";
import type { MachineOptions } from "../../../host/machines/options.ts";
import { err, type Result } from "../../../ids/index.ts";
import { option } from "../../command.ts";
import { unreadable } from "../../lib/input.ts";
import type { Runtime } from "../../runtime.ts";

const list = (text: string): readonly string[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

const wholeNumber = (text: string): number => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A whole number.");
};

/** Options of `waybill serve` that only a machine of several has. */
export const MACHINE_FLAGS = [
  option(
    "--role <role>",
    "one machine of several: an edge, which routes, or a state node (docs/operate/cluster.md)",
    Object.assign((text: string) => text, { names: ["edge", "state"] }),
  ),
  option("--config <file>", "a JSON file with these options by their names in camelCase; the command line wins"),
  option(
    "--state-tls <folder>",
    "both roles: ca.pem, cert.pem and key.pem, as `waybill cluster certificates --out FOLDER` makes them",
  ),
  option(
    "--state-nodes <addresses>",
    "edge: the state nodes' --state-listen, such as 10.0.0.21:8443,10.0.0.22:8443",
    list,
  ),
  option("--name <name>", "edge: by which state nodes know it (default: the host's name)"),
  option("--processes <count>", "edge: how many, on consecutive ports from --listen (default: 1)", wholeNumber),
  option("--state-listen <address>", "state: where edges reach it, such as 10.0.0.21:8443"),
  option(
    "--bucket <url>",
    "state: a node of a cluster on s3://NAME/PREFIX or gs://NAME/PREFIX (default: its own disk)",
  ),
  option(
    "--bucket-options <options>",
    "state: aws_endpoint=, aws_region= and aws_credentials_file= of an s3:// bucket",
    list,
  ),
  option("--cluster-addr <address>", "state: where the other state nodes reach it, on a private network"),
  option("--cluster-advertise <address>", "state: the same as the others see it, if it differs"),
  option("--cluster-key-file <file>", "state: the cluster's key: openssl rand -hex 32"),
  option("--peers <addresses>", "state: the others' --cluster-addr; a node that reaches none of them stops", list),
] as const;

/** Those of one machine too. */
export interface MachineFlags extends Members {
  readonly config?: string | undefined;
}

/** `undefined`: one machine, as ever. */
export async function machineOptions(
  { config, ...flags }: MachineFlags,
  runtime: Runtime,
): Promise<Result<MachineOptions, readonly string[]> | undefined> {
  const { state, listen, table, stopTimeout, otlpTraces, ...own } = flags;
  if (config === undefined && Object.values(own).every((value) => value === undefined)) return undefined;
  return readMachine(flags, config === undefined ? undefined : machineFile(config, runtime));
}

/** Loaded for machines of several alone. */
export async function readMachine(flags: Members, file: MachineFile | undefined) {
  const [{ readMembers }, { readOptions }] = await Promise.all([
    import("../../../host/machines/members.ts"),
    import("../../../host/machines/options.ts"),
  ]);
  const given = readMembers(flags, file);
  return given.ok ? readOptions(given.value) : err(given.error);
}

export function machineFile(path: string, runtime: Runtime): MachineFile {
  const file = runtime.readFile(path);
  if (!file.ok) return unreadable(path, file.error);
  const folder = dirname(resolve(path));
  return { path, text: new TextDecoder().decode(file.value), resolve: (each) => resolve(folder, each) };
}
