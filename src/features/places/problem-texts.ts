import type { TextsOf } from "../../problems/feature.ts";
import type { PlaceError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const placeTexts: TextsOf<PlaceError> = {
  "ids-disagree": {
    meaning:
      "The request carries several IDs where the routing table reads them, and they belong to several regions. `ids` lists each with its place. No origin was contacted.",
    remedy: "Send a request for each region.",
  },
  "id-not-in-time": {
    meaning:
      "The routing table reads an ID from the body, within `withinBytes` of its first bytes. They have been read, and the ID has not ended. No origin was contacted.",
    remedy: "Send the member or field with the ID first.",
  },
  "id-unreadable": {
    meaning:
      "Where the routing table reads an ID is something else: several values, an object, a fraction, or a body whose type or coding the gateway does not read. Passed over, it might lead to another region. No origin was contacted.",
    remedy: "Send what `detail` asks for.",
  },
};
