/** The Durable Objects of features. The platform stores names of classes: they never change. */

export { DirectoryKeys } from "./directory/edge/index.ts";
export { IdempotencyKeys } from "./idempotency/edge/index.ts";
export { SequenceBlocks } from "./mint/edge/index.ts";
