import * as v from "valibot";
import { STATE_FORMAT } from "../../../formats/state-export.ts";
import { err, type Result } from "../../../ids/index.ts";
import {
  answerOf,
  GATEWAY_OPTIONS,
  type GatewayAddress,
  type GatewayFailure,
  type GatewayOptions,
  type GatewayRequest,
  type GatewayResponse,
  gatewayAddress,
  readObject,
} from "../../client/http.ts";
import { senderTo } from "../../client/repeat.ts";
import { option } from "../../command.ts";
import { escapeControls } from "../../lib/output.ts";
import { fail, misuse, type Runtime } from "../../runtime.ts";
import { hosted } from "../host.ts";

export const STATE_OPTIONS = [
  option("--state <folder>", "the state of a gateway that is stopped, its --state of `waybill serve BUILD`"),
  ...GATEWAY_OPTIONS,
] as const;

export type StateOptions = GatewayOptions & { readonly state?: string | undefined };

/** A later gateway may send more. */
const INVENTORY = v.object({
  format: v.number(),
  deployment: v.string(),
  parts: v.array(
    v.object({
      part: v.string(),
      binding: v.string(),
      objects: v.array(v.object({ id: v.string(), name: v.optional(v.string()) })),
    }),
  ),
});

export type Inventory = v.InferOutput<typeof INVENTORY>;

const STATUS = v.object({ step: v.string(), import: v.optional(v.string()) });

/** The `/-/state` pages of one gateway. */
export interface StateClient {
  readonly from: "stopped" | "running";
  readonly url: string;
  readonly inventory: () => Promise<Inventory>;
  /** Repeats what may pass. */
  readonly ask: (request: GatewayRequest) => Promise<Result<GatewayResponse, GatewayFailure>>;
  /** The same; the last failure ends the command. */
  readonly insist: (request: GatewayRequest) => Promise<GatewayResponse>;
}

/** A page's answer takes no longer; the digest of a large object does. */
const DEADLINE_MS = 60_000;

/** Uses a gateway, or the state of a stopped one, which is closed at the end. `isNew`: the folder may be made. */
export async function withState<Value>(
  options: StateOptions,
  isNew: boolean,
  runtime: Runtime,
  use: (client: StateClient) => Promise<Value>,
): Promise<Value> {
  const { state } = options;
  if (state === undefined) {
    const address = gatewayAddress(options, runtime);
    const which = "name the state of a stopped gateway with --state, or a running one with --gateway\n";
    return address.ok ? use(connect(address.value, undefined, runtime)) : misuse(`${address.error}${which}`);
  }
  if (options.gateway !== undefined) misuse("error: --state and --gateway name two gateways; pass one of them\n");
  const { openState } = await import("../../../host/moving.ts");
  const opened = await hosted(() => openState(state, isNew));
  try {
    return await use(connect({ url: opened.url, token: opened.token }, opened.objects, runtime));
  } finally {
    await opened.stop();
  }
}

function connect(
  address: GatewayAddress,
  onDisk: ReadonlyMap<string, readonly string[]> | undefined,
  runtime: Runtime,
): StateClient {
  const { repeated: ask } = senderTo(address, runtime, DEADLINE_MS);
  const insist = async (request: GatewayRequest) => answerOf(address, await ask(request));
  return {
    from: onDisk === undefined ? "running" : "stopped",
    url: address.url,
    ask,
    insist,
    async inventory() {
      const answer = await insist({ method: "GET", path: "/-/state" });
      const read = v.safeParse(INVENTORY, readObject(answer.bytes));
      if (!read.success) return strange(address, answer);
      if (read.output.format !== STATE_FORMAT) {
        const where = escapeControls(address.url);
        return fail(`error: ${where} exports format ${read.output.format}; this command knows ${STATE_FORMAT}\n`);
      }
      return onDisk === undefined ? read.output : { ...read.output, parts: read.output.parts.map(asOnDisk) };
    },
  };

  /** The files say which objects there are; the gateway, which of them have names that it knows. */
  function asOnDisk(part: Inventory["parts"][number]): Inventory["parts"][number] {
    const names = new Map(part.objects.map(({ id, name }) => [id, name]));
    const objects = (onDisk?.get(part.binding) ?? []).map((id) => {
      const name = names.get(id);
      return name === undefined ? { id } : { id, name };
    });
    return { ...part, objects };
  }
}

export const strange = (address: { readonly url: string }, { status }: GatewayResponse): never => {
  const why = "this command cannot read the answer; its version may differ from the gateway's";
  return answerOf<never>(address, err({ reason: "strange", status, why }));
};

export interface StateObject {
  readonly part: string;
  readonly id: string;
  readonly name?: string | undefined;
}

export const pathOf = (
  { part, id, name }: StateObject,
  more = "",
  query: Readonly<Record<string, string>> = {},
): string => {
  const all = new URLSearchParams({ ...query, ...(name !== undefined && { name }) });
  return `/-/state/objects/${part}/${id}${more}${all.size === 0 ? "" : `?${all}`}`;
};

export const nameOf = ({ part, id, name }: StateObject): string => escapeControls(`${part} ${name ?? id}`);

/** A step of an import in one object, and how it then stands. */
export async function takeStep(
  client: StateClient,
  object: StateObject,
  step: string,
  body: object,
): Promise<Result<string, GatewayFailure>> {
  const answer = await client.ask({ method: "POST", path: pathOf(object, `/${step}`), body: JSON.stringify(body) });
  if (!answer.ok) return answer;
  const read = v.safeParse(STATUS, readObject(answer.value.bytes));
  return read.success ? { ok: true, value: read.output.step } : strange(client, answer.value);
}
