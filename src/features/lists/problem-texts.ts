import type { TextsOf } from "../../problems/feature.ts";
import type { ListError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const listTexts: TextsOf<ListError> = {
  "list-cursor-invalid": {
    meaning:
      "The cursor is not one of this gateway, has expired, or belongs to another list, other filters or another caller. `why` says which.",
    remedy: "Start again without a cursor.",
  },
  "list-incomplete": {
    meaning:
      "Regions of the list gave no page that can be used, and the table wants all or nothing, or no region gave one. `regions` says what each lacked.",
    remedy: "Retry with the same cursor.",
  },
  "cursors-unavailable": {
    meaning: "Cursors of lists are sealed with a key of the deployment, and it has none that all its instances share.",
    remedy: "Give the deployment `ORIGIN_SIGNING_KEYS` or `PUBLIC_ID_KEYS`.",
  },
};
