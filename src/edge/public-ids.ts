import { err, ok, type Result, type Words } from "../ids/index.ts";
import {
  decodePublic,
  encodePublic,
  type KeyRing,
  keyRing,
  type NamedKey,
  openId,
  type SealRing,
  sealId,
  sealRing,
} from "../ids/public/index.ts";
import { formatPublicText, parseBase62, parsePublicText } from "../ids/public/public-text.ts";
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

/** Blocks of base62 in a sealed ID. */
const SEALED_BLOCKS = 4;

const noKeys = ({ name: entity }: Entity) => err({ reason: "public-ids-unavailable", why: "no-keys", entity } as const);

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
      // No key makes a text of another form, so none is needed to refuse it.
      if (!hasPublicForm(kindOf(entity), text)) return ok(undefined);
      const codec = codecOf(entity);
      if (!codec.ok) return codec;
      const layout = entity.ids[0]?.enabled.layout;
      const words = codec.value.open(text);
      // What the key opens must be an ID of the layout: a key without redundancy opens every text to something.
      return ok(words !== undefined && layout?.fits(words) ? layout.format(words) : undefined);
    },
  };
}

function kindOf({ name, public: kind }: Entity): PublicKind {
  if (kind === undefined) throw new Error(`entity ${name} is not public`);
  return kind;
}

function makeCodec(entity: Entity, keys: PublicKeys): Result<Codec, PublicIdsError> {
  const kind = kindOf(entity);
  if (kind.as === "sealed") {
    const ring = keys.sealed.length === 0 ? undefined : sealRing(keys.sealed, entity.name);
    return ring?.ok ? ok(sealedCodec(ring.value)) : noKeys(entity);
  }
  const ring = keys.compatible.length === 0 ? undefined : keyRing(keys.compatible);
  const wordCount = entity.ids[0]?.enabled.layout.fixed.mask.length ?? 0;
  return ring?.ok ? ok(compatibleCodec(ring.value, kind, wordCount)) : noKeys(entity);
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

type PublicKind = NonNullable<Entity["public"]>;
type CompatibleKind = Exclude<PublicKind, { readonly as: "sealed" }>;

/** Whether some key could have made a text: it is the one text of a value in the form of the kind. */
function hasPublicForm(kind: PublicKind, text: string): boolean {
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
