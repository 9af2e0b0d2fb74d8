import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/**
 * wrangler's program as arguments of Node: on Windows its command in `.bin` starts in a shell alone. `undefined`: neither the folder
 * nor one above has it.
 */
export function wranglerScript(folder: string): string | undefined {
  try {
    const require = createRequire(join(folder, "package.json"));
    const { bin }: { readonly bin: { readonly wrangler: string } } = require("wrangler/package.json");
    return join(dirname(require.resolve("wrangler/package.json")), bin.wrangler);
  } catch {
    return undefined;
  }
}
