import type { Layout } from "../ids/index.ts";
import { hasEnoughEntropy } from "../routing/minting.ts";

/** What the IDs of each layout come of, where it is no clock and no chance. */
const ORIGINS: Readonly<Record<string, string>> = {
  "uuid-v2": "a user or a group of one host, and its clock",
  "uuid-v3": "the MD5 of a name in a namespace",
  "uuid-v5": "the SHA-1 of a name in a namespace",
  "uuid-v8": "whatever their issuer likes, which its bits do not say",
  "uuid-nil": "nothing: there is one, and it names nothing",
  "uuid-max": "nothing: there is one, and it names nothing",
};

/** Whether nothing would keep the IDs of one run apart: no time, and too few values to draw from. */
export const comesTwice = (layout: Layout): boolean =>
  layout.table.minter === undefined &&
  layout.mintedAtMs === undefined &&
  !hasEnoughEntropy(layout, "random", "counter");

/** Why no ID of a layout is minted here. */
export const whyNotMinted = (layout: Layout): string => {
  const { name } = layout;
  if (comesTwice(layout)) {
    return `IDs of ${name} are not minted offline: without a time, so few random values would make the same ID twice.`;
  }
  const origin = ORIGINS[name];
  return `IDs of ${name} are not minted${origin === undefined ? "" : `: they come of ${origin}`}.`;
};
