import type { PackPage } from "../../routing/packs/decode.ts";
import type { LoadedPack } from "../../routing/packs/pack.ts";

interface CachedPage {
  readonly pack: LoadedPack;
  readonly number: number;
  readonly page: PackPage;
}

/**
 * Keeps pages in memory up to so many bytes. The one that was loaded first goes first, unless it was looked into since it
 * was last passed over: a look-up only sets a flag, and no clock is asked (second chance, Corbató 1969).
 */
export function pageCache(bytesMax: number) {
  let kept: CachedPage[] = [];
  let bytes = 0;
  return {
    keep(pack: LoadedPack, number: number, page: PackPage): void {
      if (pack.page(number) !== undefined) return;
      // The new page stays, even if it alone is too large.
      while (bytes + page.bytes > bytesMax && kept.length > 0) {
        const [oldest, ...others] = kept as [CachedPage, ...CachedPage[]];
        if (oldest.page.isUsed) {
          oldest.page.isUsed = false;
          kept = [...others, oldest];
          continue;
        }
        oldest.pack.drop(oldest.number);
        bytes -= oldest.page.bytes;
        kept = others;
      }
      page.isUsed = false;
      pack.put(number, page);
      kept.push({ pack, number, page });
      bytes += page.bytes;
    },
  };
}
