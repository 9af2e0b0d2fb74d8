/** `waybill/origin`: for services behind the gateway. Needs only WebCrypto: Node 20+, Workers, Deno, Bun. */

export type { Err, Ok, Result } from "../ids/result.ts";
export { type CommandStoreRule, commandStoreRules } from "./command-store-rules.ts";
export {
  type Command,
  type CommandFault,
  type CommandOptions,
  type CommandRecord,
  type CommandStep,
  type CommandStore,
  type Commands,
  commandOf,
  createCommands,
  memoryCommandStore,
} from "./commands.ts";
export {
  createEpochGuard,
  type EpochFault,
  type EpochGuard,
  type EpochPassed,
  type EpochRecord,
  type EpochStep,
  type EpochStore,
  memoryEpochStore,
} from "./epoch-guard.ts";
export type { OriginKey } from "./keys.ts";
export { type NodeResponseLike, type WaybillOriginOptions, type WaybillRequest, waybillOrigin } from "./middleware.ts";
export { type Refusal, refusalOf } from "./refusal.ts";
export type { FetchRequestLike, NodeRequestLike, RequestLike } from "./request.ts";
export { type SignatureFault, type VerifiedRequest, type VerifyOptions, verifyRequest } from "./verify.ts";
