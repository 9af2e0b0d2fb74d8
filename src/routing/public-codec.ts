import type { Words } from "../ids/index.ts";
import {
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  openId,
  type SealRing,
  sealId,
  sealRing,
} from "../ids/public/index.ts";
import { formatPublicText, parseBase62, parsePublicText } from "../ids/public/public-text.ts";
import { bigToWords, wordsToBig } from "../ids/words.ts";
import { canBeLater } from "./moved.ts";
import type { PublicKeys } from "./public-keys.ts";
import type { Entity, PublicKind } from "./table.ts";

/** Both ways between the internal and the public texts of one entity; `undefined` for what is neither. */
export interface PublicCodec {
  readonly show: (internal: string) => string | undefined;
  readonly open: (text: string) => string | undefined;
}

/** The same for the words of its layout. */
interface Codec {
  readonly show: (words: Words) => string | undefined;
  readonly open: (text: string) => Words | undefined;
}

/** Blocks of base62 in a sealed ID. */
const SEALED_BLOCKS = 4;

/** The codec of a public entity; `undefined` where there are no keys for its kind. */
export function publicCodec(entity: Entity, keys: PublicKeys): PublicCodec | undefined {
  const kind = kindOf(entity);
  if (kind.as === "sealed") {
    const ring = keys.sealed.length === 0 ? undefined : sealRing(keys.sealed, entity.name);
    return ring?.ok ? ofEntity(entity, sealedCodec(ring.value)) : undefined;
  }
  const ring = keys.compatible.length === 0 ? undefined : keyRing(keys.compatible);
  const wordCount = entity.ids[0]?.enabled.layout.fixed.mask.length ?? 0;
  return ring?.ok ? ofEntity(entity, compatibleCodec(ring.value, kind, wordCount)) : undefined;
}

function ofEntity(entity: Entity, codec: Codec): PublicCodec {
  return {
    show(internal) {
      const words = readInternal(entity, internal);
      return words === undefined ? undefined : codec.show(words);
    },
    open(text) {
      const layout = entity.ids[0]?.enabled.layout;
      const words = codec.open(text);
      // What the key opens must be an ID of the layout: a key without redundancy opens every text to something.
      return words !== undefined && layout?.fits(words) ? layout.format(words) : undefined;
    },
  };
}

function kindOf({ name, public: kind }: Entity): PublicKind {
  if (kind === undefined) throw new Error(`entity ${name} is not public`);
  return kind;
}

function sealedCodec(ring: SealRing): Codec {
  return {
    show: (words) => sealId(ring, words),
    open: (text) => {
      const opened = openId(ring, text);
      return opened.ok ? opened.value.words : undefined;
    },
  };
}

type CompatibleKind = Exclude<PublicKind, { readonly as: "sealed" }>;

/** Whether some key could have made a text of the entity: it is the one text of a value in the form of the kind. */
export function hasPublicForm(entity: Entity, text: string): boolean {
  const kind = kindOf(entity);
  if (kind.as === "sealed") return parseBase62(text, SEALED_BLOCKS).ok;
  const bits = parsePublicText(text, kind.form);
  return bits.ok && formatPublicText(bits.value, kind.form) === text;
}

function compatibleCodec(ring: KeyRing, { as: type, form }: CompatibleKind, wordCount: number): Codec {
  const kind = { type, form };
  return {
    show: (words) => {
      const shown = encodePublic(ring, wordsToBig(words), kind);
      return shown.ok ? shown.value : undefined;
    },
    open: (text) => {
      const opened = decodePublic(ring, text, kind);
      // One text for a value: a second spelling of the same public ID is no public ID.
      if (!opened.ok || opened.value.canonical !== text) return undefined;
      return opened.value.id < 1n << BigInt(32 * wordCount) ? bigToWords(opened.value.id, wordCount) : undefined;
    },
  };
}

/** Origins may write an ID in any text of its layout. Where two read one text, a plausible time decides, then their order. */
function readInternal({ ids }: Entity, text: string): Words | undefined {
  const enabled = ids[0]?.enabled;
  if (enabled === undefined) return undefined;
  const readings = enabled.layout.texts.flatMap((form) => {
    const words = form.read(text, 0, text.length);
    return words !== undefined && enabled.layout.fits(words) ? [words] : [];
  });
  return readings.find((words) => canBeLater(enabled, words)) ?? readings[0];
}
