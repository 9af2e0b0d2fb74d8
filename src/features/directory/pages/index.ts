import type { PageFeature } from "../../../../routes/feature.ts";
import { directoryBulk } from "./bulk.ts";
import { directory } from "./directory.ts";
import { movedCopies, movedDirectory } from "./moved.ts";
import { openapi } from "./openapi.ts";

export const directoryPages: PageFeature = {
  name: "directory",
  pages: [directory, directoryBulk],
  openapi,
  moved: { part: movedDirectory, values: movedCopies },
};
