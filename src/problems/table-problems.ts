import type { ProblemType } from "./problem-type.ts";

/** The problem types of publishing tables and their packs. */
export const TABLE_PROBLEMS = {
  "canary-running": {
    status: 409,
    title: "A canary of the table is running",
    meaning: "The change was made for the revision in force, and another table serves a part of the IDs meanwhile.",
    remedy:
      "Promote or abort the canary first, or name its revision in `if-match`: then the change takes its place as well.",
  },
  "no-canary": {
    status: 409,
    title: "No canary of the table is running",
    meaning: "There is nothing to promote or to abort.",
    remedy: "Look at `GET /-/table/status`: somebody else may have ended it.",
  },
  "unknown-revision": {
    status: 404,
    title: "The revision cannot be had",
    meaning: "The table never had it, or its text is no longer kept: the texts of the last 1,000 revisions are.",
    remedy: "Look at `GET /-/table/revisions`; older texts are in the version control of whoever published them.",
  },
  "stale-revision": {
    status: 412,
    title: "Somebody else changed the table first",
    meaning: "The revision that `if-match` names is not the last one. Nothing was changed.",
    remedy: "Get the table in force, make the change for that one, and send it with its revision.",
  },
  "precondition-required": {
    status: 428,
    title: "The change does not say which table it is made for",
    meaning: "Without `if-match`, two operators would undo each other's changes without noticing.",
    remedy: "Send `if-match` with the `etag` that `GET /-/table` had.",
  },
  "invalid-table": {
    status: 422,
    title: "The routing table has faults",
    meaning:
      "The text is not a routing table that can be served: each of the `faults` has a JSON pointer, a kind and a sentence. The first 100 are listed; `faultCount` is how many there are, and with `more` that many at least: the check ended there. Nothing was changed.",
    remedy: "Mend the table; `waybill table check` shows the line and column of each fault.",
  },
  "unknown-pack": {
    status: 404,
    title: "The pack or its page is not known",
    meaning:
      "A page of a pack was sent whose header did not come yet, or that has no page of this number. Without the header nobody can tell whether the octets are right.",
    remedy: "Send the header first: `PUT /-/table/packs/:sha256`. `waybill table upload-packs` does all of it.",
  },
  "invalid-pack": {
    status: 422,
    title: "The octets are not those of the pack",
    meaning:
      "The header does not have the digest that the path names, or the page not the one that the header names, or its ranges are wrong. `part` says which it was, `fault` what is wrong. Nothing was stored.",
    remedy:
      "Send the octets of the file again, cut at the offsets of its header; `waybill table check` verifies the file.",
  },
  "control-plane-unavailable": {
    status: 503,
    title: "The truth about the table could not be asked",
    meaning:
      "The Durable Object that keeps the tables did not answer in time, or KV behind it did not: it cannot tell what is in force, or could not store a part of a pack. Requests are routed by the tables that the gateway holds. `outcome` of a change says whether it may have been made: `unknown`, or `none`.",
    remedy:
      "After `unknown` look at `GET /-/table/revisions` before you repeat a change, which may still be under way; with the same `if-match` it is made once at most.",
  },
} as const satisfies Readonly<Record<string, ProblemType>>;
