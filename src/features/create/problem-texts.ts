import type { TextsOf } from "../../problems/feature.ts";
import type { CreateError } from "./problems.ts";

/** The page of each problem: pages and documents alone load it. */
export const createTexts: TextsOf<CreateError> = {
  "create-key-missing": {
    meaning:
      "None of the sources that the routing table declares for a field of the new ID's key says anything. Nothing was created.",
    remedy: "Send what one of the `sources` reads.",
  },
  "create-key-invalid": {
    meaning:
      "A source of the new ID's key says something that is no value of the field: a country that the routing table does not have, or no decimal number. Nothing was created.",
    remedy: "Correct what `source` names.",
  },
  "create-count": {
    meaning:
      "The body is a list where the collection creates one entity, or the list that it declares is absent, empty or too long. Nothing was created.",
    remedy: "Send one entity a request, or as many as `max` says.",
  },
  "create-regions": {
    meaning:
      "The IDs of one request belong to several regions, or the entity above the collection is in another region than the key of the new ID. Nothing was created.",
    remedy: "Send a request for each region; below a moved entity, create with a key of its region.",
  },
  "stale-client-id": {
    meaning:
      "The client made the ID too long before or after the clock. Both ends of `expected` are inclusive. For the `why` `clock-too-far` they are for the client's clock.",
    remedy: "Correct the client's clock and make a new ID.",
  },
};
