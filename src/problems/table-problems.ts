import type { ProblemType } from "./problem-type.ts";

/** The problem types of publishing tables and their packs. */
export const TABLE_PROBLEMS = {
  "canary-running": {
    status: 409,
    title: "A canary of the table is running",
    meaning: "The change is based on the current revision, while another table serves a part of the IDs.",
    remedy: "Promote or abort the canary first, or name its revision in `if-match`: then the change replaces it.",
  },
  "no-canary": {
    status: 409,
    title: "No canary of the table is running",
    meaning: "There is nothing to promote or to abort.",
    remedy: "Check `GET /-/table/status`: another operator may have ended it.",
  },
  "unknown-revision": {
    status: 404,
    title: "Revision not available",
    meaning: "The revision does not exist, or its text is no longer stored: the last 1,000 revisions are.",
    remedy: "Check `GET /-/table/revisions`. For older texts, check the version control of their publisher.",
  },
  "stale-revision": {
    status: 412,
    title: "The table was changed by someone else",
    meaning: "The revision in `if-match` is not the latest one. Nothing was changed.",
    remedy: "Get the current table, make the change on it, and send it with its revision.",
  },
  "precondition-required": {
    status: 428,
    title: "Missing `if-match`",
    meaning: "Without `if-match`, two operators could overwrite each other's changes unnoticed.",
    remedy: "Send `if-match` with the `etag` of `GET /-/table`.",
  },
  "invalid-table": {
    status: 422,
    title: "Invalid routing table",
    meaning:
      "The text is not a valid routing table: each of the `faults` has a JSON pointer, a kind and a message. The first 100 are listed. `faultCount` is their number; with `more` it is a lower bound, because the check stopped there. Nothing was changed.",
    remedy: "Fix the table; `waybill table check` shows the line and column of each fault.",
  },
  "unknown-pack": {
    status: 404,
    title: "Unknown pack or page",
    meaning:
      "A page was sent before the pack's header, or the pack has no page of this number. Without the header the bytes cannot be verified.",
    remedy: "Send the header first: `PUT /-/table/packs/:sha256`. `waybill table upload-packs` does all of it.",
  },
  "invalid-pack": {
    status: 422,
    title: "Bytes do not match the pack",
    meaning:
      "The digest of the header is not that in the path, the digest of the page is not that in the header, or the ranges are invalid. `part` names the part and `fault` the error. Nothing was stored.",
    remedy:
      "Send the bytes of the file again, cut at the offsets of its header; `waybill table check` verifies the file.",
  },
  "control-plane-unavailable": {
    status: 503,
    title: "Control plane unavailable",
    meaning:
      "The Durable Object that stores the tables, or KV behind it, did not respond in time. Requests are still routed by the tables that the gateway has loaded. `outcome` says whether a change may have been made: `unknown` or `none`.",
    remedy:
      "After `unknown`, check `GET /-/table/revisions` before you repeat a change, which may still be in progress. With the same `if-match` it is made at most once.",
  },
} as const satisfies Readonly<Record<string, ProblemType>>;
