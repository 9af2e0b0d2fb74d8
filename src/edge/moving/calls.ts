import { deploymentName } from "../../control-plane/deployment.ts";
import { STATE_FORMAT } from "../../formats/state-export.ts";
import { err, messageOf, ok, type Result } from "../../ids/result.ts";
import type { MoveAnswers, MoveCall, MovedObject, MovedPart, MovedRows, Moving } from "../../ports/moving.ts";
import type { StateError } from "../../problems/errors.ts";
import type { Env } from "../env.ts";
import { callObject } from "../platform.ts";
import { within } from "../table/kv.ts";
import { ENDED } from "./object.ts";

/** A page of rows is written or read in far less; the digest of an object of a million rows takes seconds. */
const DEADLINE_MS = 25_000;
const VALUE_DEADLINE_MS = 10_000;

interface StateObject {
  moveState<Call extends MoveCall>(rows: MovedRows, call: Call): Promise<Result<MoveAnswers[Call["do"]], string>>;
}

interface ListObject {
  list(id: string, name: string | undefined): Promise<void>;
  listed(after: string): Promise<readonly Readonly<{ id: string; name: string | undefined }>[]>;
}

type Namespace = DurableObjectNamespace;

/** `undefined` on an edge. */
export function movingCalls(env: Env): Moving | undefined {
  if (env.STATE_1 !== undefined) return undefined;
  const namespaceOf = ({ binding }: MovedPart): Namespace | undefined =>
    (env as unknown as Readonly<Record<string, Namespace | undefined>>)[binding];
  /** Plain data crosses without the types of RPC. A stub is broken after a failure, so each call makes its own. */
  const at = <Api>(namespace: Namespace, id: DurableObjectId) => namespace.get(id) as unknown as Api;
  const listOf = (namespace: Namespace, name: string) => at<ListObject>(namespace, namespace.idFromName(name));

  async function objectsOf(part: MovedPart, namespace: Namespace) {
    const { objects } = part;
    if (Array.isArray(objects)) {
      return objects.map((name: string) => ({ id: namespace.idFromName(name).toString(), name }));
    }
    const { listedBy } = objects as { readonly listedBy: string };
    const found: { readonly id: string; readonly name: string | undefined }[] = [];
    // An object whose classes only move has no list: its files say which objects there are.
    if (env.STATE_MOVES === "on") return found;
    for (;;) {
      const after = found.at(-1)?.id ?? "";
      const more = await callObject(() => listOf(namespace, listedBy).listed(after), DEADLINE_MS, true);
      if (more.length === 0) return found;
      found.push(...more);
    }
  }

  /** An ID of another deployment stands for no object here; its name does. */
  function idOf(part: MovedPart, namespace: Namespace, { id, name }: MovedObject): DurableObjectId | undefined {
    const { objects } = part;
    if (!Array.isArray(objects)) {
      if (name !== undefined) return namespace.idFromName(name);
      try {
        return namespace.idFromString(id);
      } catch {
        return undefined;
      }
    }
    const known = objects.find((each: string) => each === name || namespace.idFromName(each).toString() === id);
    return known === undefined ? undefined : namespace.idFromName(known);
  }

  async function call<Call extends MoveCall>(
    part: MovedPart,
    object: MovedObject,
    order: Call,
  ): Promise<Result<MoveAnswers[Call["do"]], StateError>> {
    const namespace = namespaceOf(part);
    const id = namespace && idOf(part, namespace, object);
    if (namespace === undefined || id === undefined) {
      return err({ reason: "state-refused", why: `This version has no object ${object.id} in ${part.part}` });
    }
    const send = async (sent: Call) =>
      callObject(() => at<StateObject>(namespace, id).moveState(part.rows ?? {}, sent), DEADLINE_MS, true);
    try {
      if (order.do === "read" && order.from === undefined && part.flush !== undefined)
        await flush(namespace, id, part.flush);
      if (order.do === "claim" && !Array.isArray(part.objects) && env.STATE_MOVES !== "on") {
        const { listedBy } = part.objects as { readonly listedBy: string };
        await callObject(() => listOf(namespace, listedBy).list(id.toString(), object.name), DEADLINE_MS, true);
      }
      let answer: Result<MoveAnswers[Call["do"]], string>;
      try {
        answer = await send(order);
      } catch (error) {
        // The object that served ended with the claim; the next one makes room.
        if (order.do !== "claim" || !String(error).includes(ENDED)) throw error;
        answer = await send(order);
      }
      return answer.ok ? answer : err({ reason: "state-refused", why: sentence(answer.error, part, object) });
    } catch (error) {
      return err(unavailable(error));
    }
  }

  const flush = async (namespace: Namespace, id: DurableObjectId, method: string): Promise<void> => {
    if (env.STATE_MOVES === "on") return;
    const stub = at<Readonly<Record<string, () => Promise<unknown>>>>(namespace, id);
    await callObject(async () => stub[method]?.(), DEADLINE_MS, true);
  };

  return {
    async inventory(parts) {
      try {
        const listed = [];
        for (const part of parts) {
          const namespace = namespaceOf(part);
          if (namespace !== undefined)
            listed.push({ part: part.part, binding: part.binding, objects: await objectsOf(part, namespace) });
        }
        return ok({ format: STATE_FORMAT, deployment: deploymentName(env.TABLE_TRUTH), parts: listed });
      } catch (error) {
        return err(unavailable(error));
      }
    },
    call,
    async readValue(key) {
      const read = await within(() => env.TABLE_KV.get(key, { type: "arrayBuffer" }), VALUE_DEADLINE_MS);
      if (!read.ok) return err(unavailable(JSON.stringify(read.error)));
      return ok(read.value === null ? undefined : new Uint8Array(read.value));
    },
    async writeValue(key, bytes) {
      const put = await within(() => env.TABLE_KV.put(key, bytes), VALUE_DEADLINE_MS);
      return put.ok ? ok(undefined) : err(unavailable(JSON.stringify(put.error)));
    },
  };
}

const sentence = (why: string, { part }: MovedPart, { id, name }: MovedObject): string =>
  `Object ${name ?? id} of ${part}: ${why}`;

const unavailable = (error: unknown) => ({ reason: "control-plane-unavailable", why: messageOf(error) }) as const;
