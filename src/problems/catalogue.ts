import type { ProblemType } from "./problem-type.ts";
import { TABLE_PROBLEMS } from "./table-problems.ts";

/**
 * Every problem type that the gateway answers with, once (RFC 9457).
 * A slug is stable for ever: clients switch on it. `meaning` and `remedy` make the page behind the type.
 */
export const CATALOGUE = {
  "malformed-request": {
    status: 400,
    title: "The request is malformed",
    meaning: "The request's host, target, body or a field does not have the form that this endpoint takes.",
    remedy: "Mend what the detail names. Sending the same request again gives the same answer.",
  },
  "malformed-id": {
    status: 400,
    title: "The ID is malformed",
    meaning:
      "The text is not an ID of any layout that may stand at this place. IDs are read strictly: exact length and punctuation, ASCII only, nothing trimmed, nothing decoded. No origin was asked.",
    remedy: "Compare the text with the `faults`: each names a layout and why the text does not fit it.",
  },
  "region-unknown": {
    status: 400,
    title: "The request does not say which region it is for",
    meaning:
      "The path carries no ID, and none of the sources that the routing table declares for such requests (a header field, a token's claim, a cookie, the client's country or continent) names a region.",
    remedy: "Send what one of the `sources` reads.",
  },
  unauthenticated: {
    status: 401,
    title: "Nobody says who is asking",
    meaning:
      "The page is for viewers or operators, and the request has no credential, or one that does not count. Nothing says which: a wrong token, an unknown one and one that has expired are answered alike.",
    remedy:
      "Send a token of the deployment as `authorization: Bearer …`, or come through its Cloudflare Access. The operator finds the reason in the log.",
  },
  forbidden: {
    status: 403,
    title: "This caller may not do that",
    meaning:
      "The credential is good, and its scope is too small; or a browser sent the request for another site, or did not say for which (`origin`, `sec-fetch-site`). Or the pages are open to everybody (`OPEN_PAGES`), and `host` is neither an address nor localhost: any web site can have a name of its own lead to this machine, and would be let in with it.",
    remedy:
      "Use a credential of the scope that `needs` names. Programs send a bearer token, which no browser adds by itself. Ask a gateway with open pages by localhost or by its address; to ask it by another name set `ADMIN_TOKENS` or Access, which close the pages.",
  },
  "unrouted-path": {
    status: 404,
    title: "No entity has this path",
    meaning: "The path is neither the gateway's own nor one that the routing table gives to an entity.",
    remedy: "Check the path, or declare an entity for it in the routing table.",
  },
  "unknown-id": {
    status: 404,
    title: "The ID is of no known entity",
    meaning:
      "No layout and key that the routing table knows takes the text. The `candidates` say how it can be read and what speaks against each; there are none where the table has public IDs, so that nothing tells a wrong one from one of nobody.",
    remedy: "Check where the ID comes from; `GET /-/ids/:id` explains it in full.",
  },
  "unassigned-key": {
    status: 404,
    title: "The ID's key is assigned to no region",
    meaning:
      "The ID was read without doubt, but no route of the table takes its key, and the table declares no default.",
    remedy: "Assign the key to a region in the routing table. The gateway never guesses one.",
  },
  "not-found": {
    status: 404,
    title: "There is nothing here",
    meaning: "The path begins with `/-/`, which belongs to the gateway itself, and the gateway has no such page.",
    remedy: "`GET /-/openapi.json` lists what there is.",
  },
  "method-not-allowed": {
    status: 405,
    title: "The method is not allowed here",
    meaning: "This endpoint of the gateway does not take the method; the `allow` field lists those it takes.",
    remedy: "Use one of the methods listed.",
  },
  "request-timeout": {
    status: 408,
    title: "The request's body did not come",
    meaning: "The client stopped sending in the middle of the request's body for longer than the idle deadline.",
    remedy: "Send the request again. The origin got a part of it, as a broken message.",
  },
  "ambiguous-id": {
    status: 409,
    title: "The ID can be read in several ways",
    meaning:
      "More than one layout or entity takes the text, and they do not lead to the same place. Guessing would send the request to the wrong region.",
    remedy: "Use the entity's own path, which says what the ID is, or name its layout in the field `id-layout`.",
  },
  ...TABLE_PROBLEMS,
  "entity-gone": {
    status: 410,
    title: "The entity is gone for good",
    meaning:
      "The routing table lists the ID among those whose entity was removed from every region. No origin was asked.",
    remedy: "Forget the ID. It is never given to another entity.",
  },
  "body-too-large": {
    status: 413,
    title: "The body is too large",
    meaning: "The endpoint reads a body up to a cap, and this one is larger.",
    remedy: "Send less; `POST /mint` takes a `count` instead of repeated bodies.",
  },
  "wrong-entity": {
    status: 422,
    title: "The ID is of another entity",
    meaning: "The ID is well-formed, but it names another kind of thing than this path is for.",
    remedy: "Use the path of the entity that the `candidates` name, or `/any/:id`.",
  },
  "layout-mismatch": {
    status: 422,
    title: "The path is for IDs of another layout",
    meaning:
      "The routing table reads IDs on this path as one layout alone, and the request's field `id-layout` names another one. Neither is believed more than the other.",
    remedy: "Leave `id-layout` out, or use a path of the entity for the layout that it names, or `/any/:id`.",
  },
  "unknown-name": {
    status: 422,
    title: "A name is not in the routing table",
    meaning: "The request names an entity, layout, country or slice that the routing table in force does not declare.",
    remedy: "Use one of the names listed in `known`, or declare it in the table.",
  },
  "key-out-of-range": {
    status: 422,
    title: "A key does not fit its field",
    meaning: "A value is negative, not whole, or larger than the bits of its field hold. Nothing is ever wrapped.",
    remedy: "Send a value from 0 to the `max` given.",
  },
  "loop-detected": {
    status: 508,
    title: "The request came back to the gateway",
    meaning: "The request already passed this gateway (RFC 8586): an origin in the routing table leads back to it.",
    remedy: "Correct the origin's URL in the routing table.",
  },
  "rate-limited": {
    status: 429,
    title: "Too many requests",
    meaning:
      "A limit that this deployment sets for a client, an entity's paths or look-ups under `/any` was passed, or more wrong credentials came from the client's network than are listened to.",
    remedy: "Wait as long as `retry-after` says.",
  },
  "internal-error": {
    status: 500,
    title: "The gateway failed",
    meaning: "A defect of the gateway. Whether an origin has acted on the request is not known.",
    remedy: "Report it with the time and the `traceparent` of the request.",
  },
  "transfer-coding-unsupported": {
    status: 501,
    title: "The transfer coding is not understood",
    meaning:
      "The body comes in a transfer coding other than `chunked` alone (RFC 9112 §6.1). It cannot be sent on without losing what the octets mean.",
    remedy: "Send the body chunked or with its length; a `content-encoding` goes through untouched.",
  },
  "origin-unreachable": {
    status: 502,
    title: "The region's origin did not answer",
    meaning:
      "No connection could be made, it broke before an answer began, or what came was no valid answer. `proxy-status` says which, as far as the platform tells.",
    remedy: "Safe requests can be sent again. For others the origin may have acted: look before you repeat.",
  },
  "origin-timeout": {
    status: 504,
    title: "The region's origin took too long",
    meaning: "The origin did not begin its answer within its deadline, or within that of the whole request.",
    remedy: "Safe requests can be sent again. For others the origin may have acted: look before you repeat.",
  },
  "origin-open-circuit": {
    status: 503,
    title: "The region's origin is being left alone",
    meaning:
      "The origins that may answer failed several times in a row just before. They are tried again one request at a time.",
    remedy: "Wait as long as `retry-after` says. No origin has seen this request.",
  },
  "origins-disagree": {
    status: 502,
    title: "No origin takes the entity",
    meaning:
      "The region's origin says that the entity is elsewhere, and the region that it names cannot be asked or says so too.",
    remedy: "Try again shortly: the entity may be on its way. The operator finds the regions in the log.",
  },
  "entity-moving": {
    status: 503,
    title: "The entity is on its way to another region",
    meaning:
      "The last step of the entity's move has begun: reads go on, and writes wait until the new region has everything.",
    remedy: "Send the same request again as soon as `retry-after` says. No origin has seen it.",
  },
  "body-too-large-to-replay": {
    status: 503,
    title: "The request could not be sent to the entity's new region",
    meaning:
      "The region's origin said that the entity had moved, after the body had been sent, and the body is longer than what this entity's requests are kept for.",
    remedy: "Send the same request again: the new region is known now. The old one has not acted on it.",
  },
  "table-unavailable": {
    status: 503,
    title: "There is no routing table to decide by",
    meaning: "No copy of the routing table could be loaded and verified, so nothing can be routed.",
    remedy: "Try again shortly; the operator sees why under `/-/ready`.",
  },
  "authentication-unavailable": {
    status: 503,
    title: "Credentials cannot be verified now",
    meaning:
      "The keys that Cloudflare Access signs with could not be fetched, and none that are known may still be used. Bearer tokens work on.",
    remedy: "Try again in a minute, or use a bearer token. Nobody is let in unverified.",
  },
  "clock-behind": {
    status: 503,
    title: "The clock went back",
    meaning: "The clock is further behind the last minted ID than can be bridged without repeating IDs.",
    remedy: "Try again shortly; another instance may answer.",
  },
  "public-ids-unavailable": {
    status: 503,
    title: "Public IDs cannot be made or read",
    meaning: "The routing table makes an entity public, and this deployment has no key for its public IDs.",
    remedy: "Give the deployment the secret `PUBLIC_ID_KEYS`. Internal IDs are never shown instead.",
  },
  "answer-withheld": {
    status: 502,
    title: "The origin's answer cannot be shown",
    meaning:
      "The answer may hold internal IDs of public entities where they cannot be sought: it is not JSON where only JSON is allowed, a part of a document, in a coding that cannot be undone, or marked `no-transform`.",
    remedy:
      "Change what the origin answers, or what the routing table says of the entity. The origin has acted on the request.",
  },
  "sequence-unavailable": {
    status: 503,
    title: "The sequence could not be reached",
    meaning: "Numbers for this group are reserved from a durable sequence, which did not answer.",
    remedy: "Try again shortly. No number is ever given twice.",
  },
  "sequence-exhausted": {
    status: 503,
    title: "The sequence has no numbers left",
    meaning: "Every primary key that fits the field has been handed out.",
    remedy: "Use another group for new entities.",
  },
} as const satisfies Readonly<Record<string, ProblemType>>;

export type ProblemSlug = keyof typeof CATALOGUE;

export const PROBLEM_SLUGS = Object.keys(CATALOGUE) as readonly ProblemSlug[];

/** The problem type's URI: a path, so that it is the same on every host that the gateway answers for. */
export const problemTypePath = (slug: ProblemSlug): string => `/-/problems/${slug}`;
