/** The gateway as a Worker. A project's Worker gives it the table, and exports the classes of `waybill/worker/objects` beside it. */

/** Bindings and settings by their names in wrangler's configuration; docs/operate/deploy.md describes each. */
export type Env = object;

export interface Lifetime {
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}

export interface Gateway {
  fetch(request: Request, env: Env, context: Lifetime): Response | Promise<Response>;
  scheduled(event: unknown, env: Env, context: Lifetime): Promise<void>;
}

/** `table`: a routing table as it is declared, or its JSON text. A Worker has one: a call with a second table throws. */
export declare function gateway(table: object | string): Gateway;
