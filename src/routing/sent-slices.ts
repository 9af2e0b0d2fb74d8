import { luuid, type Words } from "../ids/index.ts";
import { LUUID_SHORT } from "./identity.ts";
import { keyFieldOf } from "./layout-fields.ts";
import type { EnabledLayout, EntityId, SentSlice, SentSlices } from "./table.ts";

/** What the origins of an entity are told of its IDs' keys. */
export const sentSlicesOf = (ids: readonly EntityId[]): SentSlices => {
  const sent = new Map<string, readonly SentSlice[]>();
  for (const { enabled } of ids) {
    const slices = slicesOf(enabled);
    if (slices.length === 0) continue;
    sent.set(enabled.layout.name, slices);
    // A short key has the bits of its LUUID but for the random ones.
    if (enabled.layout === luuid) sent.set(LUUID_SHORT, slices);
  }
  return sent.size === 0 ? undefined : sent;
};

const slicesOf = ({ layout, slices }: EnabledLayout): readonly SentSlice[] => {
  const key = keyFieldOf(layout);
  if (key === undefined) return [];
  return [...slices.values()].flatMap(({ header, offset, bits }) => {
    if (header === undefined) return [];
    const below = BigInt(key.bits - offset - bits);
    const mask = (1n << BigInt(bits)) - 1n;
    return [{ header, read: (words: Words) => String((key.readBig(words) >> below) & mask) }];
  });
};
