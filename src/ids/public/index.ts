export { type KeyRingError, type NamedKey, RING_KEYS_MAX, type Ring, type RingKey } from "./key-ring.ts";
export { PUBLIC_ID_MAX, type PublicType } from "./public-block.ts";
export {
  type DecodedPublic,
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  type PublicDecodeError,
  type PublicEncodeError,
  type PublicKind,
} from "./public-id.ts";
export type { PublicForm, PublicTextError } from "./public-text.ts";
export {
  type OpenError,
  type OpenedId,
  openId,
  SEALED_TEXT_LENGTH,
  type SealRing,
  type SealRingError,
  sealId,
  sealRing,
} from "./sealed-id.ts";
