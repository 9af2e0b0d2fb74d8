import type { ControlPlaneRpc } from "../edge/env.ts";
import { callObject } from "../edge/platform.ts";
import { err, messageOf } from "../ids/result.ts";
import type { TableHistoryError } from "../problems/errors.ts";

/** One object has all revisions of a deployment. */
export const TABLE_OBJECT = "table";

/** Identifies the deployment: the Workers of a zone share one edge cache, and no two have the same object. */
export const deploymentName = (namespace: DurableObjectNamespace<ControlPlaneRpc>): string =>
  namespace.idFromName(TABLE_OBJECT).toString();

/** Checking the largest table takes seconds, and so does reading thousands of pages of packs from KV. */
export const CHECK_DEADLINE_MS = 30_000;

/** After the first answers of an isolate: on one machine the object would start beside them. */
const FORM_DELAY_MS = 1_000;

/** Asks for the stored form of a table; without an answer the isolate goes on with what it compiled. */
export const formRequests =
  (namespace: DurableObjectNamespace<ControlPlaneRpc>, pause: (ms: number) => Promise<void>) =>
  async (digest: string): Promise<void> => {
    await pause(FORM_DELAY_MS);
    const ask = () => namespace.get(namespace.idFromName(TABLE_OBJECT)).renewForm(digest);
    await callObject(ask, CHECK_DEADLINE_MS, true).catch(() => undefined);
  };

/** For isolates of a start that hands a table over. */
export const beginCalls = (namespace: DurableObjectNamespace<ControlPlaneRpc>) => async () => {
  const stub = () => namespace.get(namespace.idFromName(TABLE_OBJECT)) as unknown as Pick<ControlPlaneRpc, "begin">;
  const begin = () => stub().begin();
  try {
    return await callObject(begin, CHECK_DEADLINE_MS, true);
  } catch (error) {
    return err(unavailable(error));
  }
};

export const unavailable = (error: unknown): TableHistoryError => ({
  reason: "control-plane-unavailable",
  why: messageOf(error),
});
