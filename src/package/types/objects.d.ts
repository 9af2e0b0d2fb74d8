/** The Durable Objects of the gateway. Their names are in the configuration; a deployment keeps all of them. */

interface DurableObjectClass {
  new (context: never, env: never): object;
}

/** Revisions of the routing table, their history and audit. */
export declare const TableTruth: DurableObjectClass;
/** Metrics of all isolates, and the checks of origins. */
export declare const TrafficReports: DurableObjectClass;
/** Blocks of numbers that IDs are minted from. */
export declare const SequenceBlocks: DurableObjectClass;
/** Answers to requests with an idempotency key. */
export declare const IdempotencyKeys: DurableObjectClass;
/** Keys of directories. */
export declare const DirectoryKeys: DurableObjectClass;
