import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

/** The Durable Objects of the gateway. Their names are in the configuration; a deployment keeps all of them. */

/** Revisions of the routing table, their history and audit. */
export declare class TableTruth extends DurableObject {}
/** Metrics of all isolates, and the checks of origins. */
export declare class TrafficReports extends DurableObject {}
/** Blocks of numbers that IDs are minted from. */
export declare class SequenceBlocks extends DurableObject {}
/** Answers to requests with an idempotency key. */
export declare class IdempotencyKeys extends DurableObject {}
/** Keys of directories. */
export declare class DirectoryKeys extends DurableObject {}
/** How edges of a self-hosted gateway of several machines reach the objects. Nothing is bound to it elsewhere. */
export declare class State extends WorkerEntrypoint {}
