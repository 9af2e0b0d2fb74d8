import { writeFileSync } from "node:fs";
import { scalePage } from "./page.ts";

/** The second half of `npm run generate`: the page that follows from the formulas and the simulation of this folder. */
writeFileSync(new URL("../../docs/scale.md", import.meta.url), scalePage());
process.stdout.write("docs/scale.md\n");
