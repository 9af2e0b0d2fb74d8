import { err, ok, type Result, type Words } from "../ids/index.ts";
import {
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  type NamedKey,
  openId,
  SEALED_TEXT_LENGTH,
  type SealRing,
  sealId,
  sealRing,
} from "../ids/public/index.ts";
import { bigToWords, wordsToBig } from "../ids/words.ts";
import type { PublicIds } from "../ports.ts";
import type { PublicIdsError } from "../problems/port-errors.ts";
import type { CompiledTable, Entity } from "../routing/index.ts";
import { canBeLater } from "../routing/moved.ts";

/** Keys of public IDs, from a secret: the first of a list makes new texts, all of them read. */
export interface PublicKeys {
  readonly sealed: readonly NamedKey[];
  readonly compatible: readonly NamedKey[];
}

/** A codec for one entity: both ways between the words of its layout and the public text. */
interface Codec {
  readonly show: (words: Words) => string | undefined;
  readonly open: (text: string) => Words | undefined;
}

const NO_KEYS = err({ reason: "public-ids-unavailable", why: "no-keys" } as const);

/** Public IDs under the keys of the deployment. Rings are made once for each entity of a table. */
export function keyedPublicIds(keys: PublicKeys): PublicIds {
  const codecs = new WeakMap<Entity, Result<Codec, PublicIdsError>>();
  const codecOf = (entity: Entity): Result<Codec, PublicIdsError> => {
    const known = codecs.get(entity) ?? makeCodec(entity, keys);
    codecs.set(entity, known);
    return known;
  };
  const covered = new WeakMap<CompiledTable, boolean>();
  return {
    covers(table) {
      const known =
        covered.get(table) ?? [...table.entities.values()].every((one) => one.public === undefined || codecOf(one).ok);
      covered.set(table, known);
      return known;
    },
    show(entity, internal) {
      const codec = codecOf(entity);
      if (!codec.ok) return codec;
      const words = readInternal(entity, internal);
      return ok(words === undefined ? undefined : codec.value.show(words));
    },
    open(entity, text) {
      const codec = codecOf(entity);
      if (!codec.ok) return codec;
      const layout = entity.ids[0]?.enabled.layout;
      const words = codec.value.open(text);
      // What the key opens must be an ID of the layout: a key without redundancy opens every text to something.
      return ok(words !== undefined && layout?.fits(words) ? layout.format(words) : undefined);
    },
  };
}

function makeCodec(entity: Entity, keys: PublicKeys): Result<Codec, PublicIdsError> {
  const kind = entity.public;
  if (kind === undefined) throw new Error(`entity ${entity.name} is not public`);
  if (kind.as === "sealed") {
    const ring = keys.sealed.length === 0 ? undefined : sealRing(keys.sealed, entity.name);
    return ring?.ok ? ok(sealedCodec(ring.value)) : NO_KEYS;
  }
  const ring = keys.compatible.length === 0 ? undefined : keyRing(keys.compatible);
  const wordCount = entity.ids[0]?.enabled.layout.fixed.mask.length ?? 0;
  return ring?.ok ? ok(compatibleCodec(ring.value, kind, wordCount)) : NO_KEYS;
}

function sealedCodec(ring: SealRing): Codec {
  return {
    show: (words) => sealId(ring, words),
    open: (text) => {
      if (text.length !== SEALED_TEXT_LENGTH) return undefined;
      const opened = openId(ring, text);
      return opened.ok ? opened.value.words : undefined;
    },
  };
}

type CompatibleKind = Exclude<NonNullable<Entity["public"]>, { readonly as: "sealed" }>;

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
