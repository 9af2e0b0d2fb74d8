import type { PlatformFeature } from "../../edge/feature.ts";
import { err, ok, type Result } from "../../ids/index.ts";
import type { CompiledTable, Entity } from "../../routing/index.ts";
import type { PublicIds } from "./port.ts";
import type { PublicIdsError } from "./problems.ts";
import { hasPublicForm, type PublicCodec, type PublicKeys, publicCodec } from "./table/codec.ts";

export const publicIds = {
  name: "public-ids",
  ports: ({ config }) => ({ publicIds: keyedPublicIds(config.publicKeys) }),
} satisfies PlatformFeature;

/** Public IDs under the keys of the deployment. Codecs are made once for each entity of a table. */
export function keyedPublicIds(keys: PublicKeys): PublicIds {
  const codecs = new WeakMap<Entity, Result<PublicCodec, PublicIdsError>>();
  const codecOf = (entity: Entity): Result<PublicCodec, PublicIdsError> => {
    const known = codecs.get(entity) ?? made(entity, publicCodec(entity, keys));
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
      return codec.ok ? ok(codec.value.show(internal)) : codec;
    },
    open(entity, text) {
      // No key makes a text of another form, so none is needed to refuse it.
      if (!hasPublicForm(entity, text)) return ok(undefined);
      const codec = codecOf(entity);
      return codec.ok ? ok(codec.value.open(text)) : codec;
    },
  };
}

function made({ name: entity }: Entity, codec: PublicCodec | undefined): Result<PublicCodec, PublicIdsError> {
  return codec === undefined ? err({ reason: "public-ids-unavailable", why: "no-keys", entity }) : ok(codec);
}
