import { writeFileSync } from "node:fs";
import { scalePage } from "./page.ts";

/** Part of `npm run generate`. */
writeFileSync(new URL("../../docs/design/scale.md", import.meta.url), scalePage());
process.stdout.write("docs/design/scale.md\n");
