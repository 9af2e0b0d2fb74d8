import * as v from "valibot";
import { KEY_FORMS } from "../../../features/directory/table/normalise.ts";
import { err, type Result } from "../../../ids/index.ts";
import { parseJson, parseUniqueJson } from "../../../routing/schema/json-scanner.ts";
import {
  answerOf,
  formatFailure,
  type GatewayAddress,
  type GatewayFailure,
  type GatewayOptions,
  type GatewayRequest,
  type GatewayResponse,
  gatewayAddress,
  readObject,
} from "../../client/http.ts";
import { senderTo } from "../../client/repeat.ts";
import { escapeControls } from "../../lib/output.ts";
import { fail, misuse, type Runtime } from "../../runtime.ts";

/** A later gateway may send more. */
const DIRECTORIES = v.object({
  directories: v.array(
    v.object({
      name: v.string(),
      key: v.union([
        v.object({ text: v.picklist(KEY_FORMS), slash: v.exactOptional(v.boolean()) }),
        v.object({ layout: v.string() }),
      ]),
    }),
  ),
});

type KeyOptions = v.InferOutput<typeof DIRECTORIES>["directories"][number]["key"];

/** The pages of one directory at a gateway. */
export interface DirectoryClient {
  readonly url: string;
  /** The directory's identity in a state file. */
  readonly place: string;
  /** How its keys are normalised; `undefined` if the gateway does not say. */
  readonly keyForm: () => Promise<KeyOptions | undefined>;
  /** `path`: after the directory's name. */
  readonly send: (request: GatewayRequest) => Promise<Result<GatewayResponse, GatewayFailure>>;
  /** Repeats what may pass, and ends the command with the last failure. `hint`: after it. */
  readonly insist: (request: GatewayRequest, hint?: () => string) => Promise<GatewayResponse>;
}

export const openDirectory = (name: string, options: GatewayOptions, runtime: Runtime): DirectoryClient => {
  const address = gatewayAddress(options, runtime);
  return address.ok ? connect(name, address.value, runtime) : misuse(address.error);
};

const connect = (name: string, address: GatewayAddress, runtime: Runtime): DirectoryClient => {
  const base = `/-/directory/${encodeURIComponent(name)}`;
  const { once, repeated } = senderTo(address, runtime);
  const within = (request: GatewayRequest) => ({ ...request, path: `${base}${request.path}` });
  return {
    url: address.url,
    place: `${address.url}${base}`,
    send: (request) => once(within(request)),
    async keyForm() {
      const answer = await once({ method: "GET", path: "/-/directory" });
      const read = answer.ok ? v.safeParse(DIRECTORIES, readObject(answer.value.bytes)) : undefined;
      return read?.success ? read.output.directories.find((one) => one.name === name)?.key : undefined;
    },
    async insist(request, hint = () => "") {
      const answer = await repeated(within(request));
      return answer.ok ? answer.value : fail(formatFailure(address.url, answer.error) + hint());
    },
  };
};

/** Each line of an answer by a schema. The error is a failure of the answer. */
export const linesIn = <Schema extends v.GenericSchema>(
  { url }: Pick<DirectoryClient, "url">,
  { bytes, status }: GatewayResponse,
  schema: Schema,
): v.InferOutput<Schema>[] =>
  new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const read = v.safeParse(schema, parseJson(line));
      const why = "this command cannot read a line of the answer; its version may differ from the gateway's";
      return read.success ? read.output : answerOf({ url }, err({ reason: "strange", status, why }));
    });

/** The state from which a broken command goes on: a file, written after each step that is done. */
export const openState = <Schema extends v.GenericSchema<unknown, object>>(
  path: string | undefined,
  schema: Schema,
  first: v.InferOutput<Schema>,
  isSame: (state: v.InferOutput<Schema>) => boolean,
  runtime: Runtime,
) => {
  const before = path === undefined || !runtime.fileExists(path) ? undefined : readState(path, schema, runtime);
  if (before !== undefined && !isSame(before)) {
    fail(`error: ${escapeControls(path ?? "")} is the state of another command; pass another file as --resume\n`);
  }
  return {
    state: before ?? first,
    isResumed: before !== undefined,
    save(state: v.InferOutput<Schema>): void {
      if (path === undefined) return;
      const written = runtime.writeFile(path, `${JSON.stringify(state)}\n`);
      if (!written.ok) fail(`error: ${escapeControls(path)} cannot be written: ${written.error}\n`);
    },
  };
};

const readState = <Schema extends v.GenericSchema<unknown, object>>(
  path: string,
  schema: Schema,
  runtime: Runtime,
): v.InferOutput<Schema> => {
  const content = runtime.readFile(path);
  if (!content.ok) return fail(`error: ${escapeControls(path)} cannot be read: ${content.error}\n`);
  const state = v.safeParse(schema, parseUniqueJson(new TextDecoder().decode(content.value)));
  return state.success ? state.output : fail(`error: ${escapeControls(path)} is no state of this command\n`);
};
