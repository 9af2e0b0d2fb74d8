export { type KeyRingError, type NamedKey, RING_KEYS_MAX, type Ring, type RingKey } from "./key-ring.ts";
export {
  type DecodedPublic,
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  PUBLIC_ID_MAX,
  type PublicDecodeError,
  type PublicEncodeError,
  type PublicKind,
  type PublicType,
} from "./public-id.ts";
export type { PublicForm, PublicTextError } from "./public-text.ts";
export * from "./sealed-id.ts";
