import * as v from "valibot";
import { claim, described, integer, matching, optional, token } from "../../../routing/schema/parts.ts";
import * as limits from "./limits.ts";

/** How a collection is listed over all regions, in the declared table. Rules about more than one value are in `check.ts`. */

const pointer = matching(/^(?:\/(?:[^/~]|~[01])*)*$/, "Write a JSON pointer, such as /data/items.");

const memberPointer = matching(/^(?:\/(?:[^/~]|~[01])*)+$/, "Write a JSON pointer to a member, such as /id.");

const collection = matching(
  /^(?:\/[A-Za-z0-9._~!$&'()+,;=@-]+)+$/,
  "The path of a list is literal text, such as /orders.",
);

const queryName = matching(/^[A-Za-z0-9._~-]{1,64}$/, "Write the name of a query parameter, such as limit.");

const memberName = matching(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "Write the name of a member, such as items.");

const next = v.union([
  v.strictObject({ link: described(v.literal(true), "The header `link` with rel=next (RFC 8288).") }),
  v.strictObject({ member: described(memberPointer, "A member with the URL of the next page.") }),
  v.strictObject({
    cursor: described(memberPointer, "A member with the cursor of the next page; none, null or empty at the end."),
    query: described(queryName, "The query parameter that takes the cursor."),
  }),
]);

const order = v.union([
  v.literal("none"),
  v.strictObject({
    by: described(
      v.union([
        v.literal("id-time"),
        v.strictObject({
          member: described(memberPointer, "The item's member."),
          type: described(v.picklist(["string", "number", "time"]), "Texts by code point, numbers, or RFC 3339 times."),
        }),
      ]),
      "The sort key of items, the ID's time or a member; ties are sorted by the text of their IDs.",
    ),
    direction: described(v.picklist(["asc", "desc"]), "Direction of the key and of the ID."),
  }),
]);

const filters = v.strictObject({
  region: optional(queryName, "Parameter with names of regions, with commas: only these are asked."),
  country: optional(queryName, "Parameter with country codes, with commas: of the IDs."),
  mintedAfter: optional(queryName, "Parameter with a time, RFC 3339 or Unix ms: IDs of it or later."),
  mintedBefore: optional(queryName, "The same: IDs of it or earlier."),
});

export const listSchema = v.strictObject({
  path: optional(collection, "Where GET lists; default: the path before `/:id`."),
  items: described(pointer, "The array of items in a region's page."),
  id: optional(memberPointer, "The ID in an item; default /id."),
  next: optional(next, "How a page leads to the next one. Without it a region's list is one page."),
  order: described(order, "The order of every region's list. `none`: items come as regions answer."),
  pageSize: optional(
    integer(1, limits.PAGE_SIZE_MAX),
    "Items of a region's page at most; default 100. More are a fault of the region.",
  ),
  pageSizeQuery: optional(queryName, "The regions' query parameter for it."),
  pageBytesMax: optional(integer(1024, limits.PAGE_BYTES_MAX), "The largest page that is read; default 1048576."),
  itemsMax: optional(integer(1, limits.ITEMS_MAX), "Items of all regions in memory at a time; default 10000."),
  limit: optional(
    v.strictObject({
      query: optional(queryName, "The client's parameter; default limit."),
      default: optional(integer(1, limits.LIMIT_MAX), "Without it so many items are answered; default 100."),
      max: optional(integer(1, limits.LIMIT_MAX), "The most; default 1000."),
    }),
    "How many items one answer has.",
  ),
  pagesMax: optional(
    integer(1, limits.PAGES_MAX),
    "Requests to regions for one answer; default 500. Then it ends early, with a cursor.",
  ),
  cursorQuery: optional(queryName, "The client's parameter for the cursor; default cursor."),
  cursorSeconds: optional(integer(60, limits.CURSOR_SECONDS_MAX), "How long a cursor holds; default 86400."),
  scope: optional(
    v.union([
      v.strictObject({ jwtClaim: described(claim, "The claim that names the caller.") }),
      v.strictObject({ cookie: described(token, "The cookie of the caller's session.") }),
    ]),
    "Whose cursor it is: by a verified claim, or a cookie, instead of `authorization`.",
  ),
  regionDeadlineMs: optional(integer(10, 300_000), "For each page of a region; default 10000."),
  partial: optional(
    v.picklist(["allow", "refuse"]),
    "A region that fails: the answer says that it is partial (the default), or is a problem.",
  ),
  filters: optional(filters, "Query parameters that leave regions out. They are sent on too."),
  answer: optional(
    v.strictObject({
      items: optional(memberName, "Default items."),
      next: optional(memberName, "Default next."),
      summary: optional(memberName, "Default summary; the last line of NDJSON has it alone."),
    }),
    "Names of the members of the answer.",
  ),
});

export type DeclaredList = v.InferOutput<typeof listSchema>;

declare module "../../../routing/schema/table.ts" {
  interface DeclaredEntity {
    list?: DeclaredList;
  }
}
