import { FEATURE_PROBLEMS } from "../features/problems.ts";
import type { ProblemType } from "./feature.ts";

type Texts = Pick<ProblemType, "meaning" | "remedy">;

const problem = (status: number, title: string, texts: Texts): ProblemType => ({ status, title, ...texts });

/** The problem types of the core. Slugs are stable: clients switch on them. `meaning` and `remedy` are its page. */
const CORE = {
  "malformed-request": problem(400, "Malformed request", {
    meaning: "The request's host, target, body or a header does not have the form that this endpoint requires.",
    remedy: "Fix the field named in `detail`. Sending the same request again gives the same response.",
  }),
  "malformed-id": problem(400, "Malformed ID", {
    meaning:
      "The text is not a valid ID of any layout allowed here. Parsing is strict: exact length and punctuation, ASCII only, no trimming, no decoding. No origin was contacted.",
    remedy: "Compare the text with the `faults`: each names a layout and why the text does not match it.",
  }),
  "region-unknown": problem(400, "No region in the request", {
    meaning:
      "The path carries no ID, and no source that the routing table declares for such requests (a header, a token's claim, a cookie, the client's country or continent) names a region. `unlisted` has the values that were read and that the table does not list.",
    remedy: "Send what one of the `sources` reads.",
  }),
  unauthenticated: problem(401, "Authentication required", {
    meaning:
      "This endpoint is for viewers or operators, or the create needs a claim, and the request has no valid credential. Wrong, unknown and expired tokens get the same response.",
    remedy:
      "Send a token of the deployment as `authorization: Bearer …`, or sign in through its Cloudflare Access. The log has the reason for the operator.",
  }),
  forbidden: problem(403, "Insufficient permissions", {
    meaning:
      "The credential is valid, but its scope is too small; or a browser sent the request for another site, or did not say for which (`origin`, `sec-fetch-site`), or to another host than the console's (`CONSOLE_HOST`). Or the console may not show the entity (`CONSOLE_PREVIEW`). Or the pages are open (`OPEN_PAGES`), and `host` is neither an address nor localhost.",
    remedy:
      "Use a credential with the scope in `needs`; programs send a bearer token. Call open pages by localhost or an address, or close them by `ADMIN_TOKENS` or Access.",
  }),
  "unrouted-path": problem(404, "No entity for this path", {
    meaning: "The path is neither one of the gateway's own nor one that the routing table gives to an entity.",
    remedy: "Check the path, or declare an entity, or its `create`, in the routing table.",
  }),
  "unknown-id": problem(404, "Unknown ID", {
    meaning:
      "No layout and key in the routing table matches the text. `candidates` lists how it can be read and what excludes each reading. It is empty where the table has public IDs, so that callers cannot tell a wrong ID from an unassigned one.",
    remedy: "Check where the ID comes from; `GET /-/ids/:id` explains it in full.",
  }),
  "unassigned-key": problem(404, "No region is assigned to this ID's key", {
    meaning:
      "The ID was read unambiguously, but no route of the table matches its key, and the table declares no default.",
    remedy: "Assign the key to a region in the routing table. The gateway never guesses one.",
  }),
  "not-found": problem(404, "No such gateway endpoint", {
    meaning: "Paths below `/-/` belong to the gateway itself, and it has no endpoint at this one.",
    remedy: "`GET /-/openapi.json` lists all endpoints.",
  }),
  "method-not-allowed": problem(405, "Method not allowed", {
    meaning: "This endpoint does not support the method; the `allow` header lists those it supports.",
    remedy: "Use one of the methods listed.",
  }),
  "request-timeout": problem(408, "Request body timed out", {
    meaning: "The client stopped sending the request's body for longer than the idle timeout.",
    remedy: "Send the request again. The origin received an incomplete message.",
  }),
  "ambiguous-id": problem(409, "Ambiguous ID", {
    meaning:
      "More than one layout or entity matches the text, and they do not route to the same place. A guess could send the request to the wrong region.",
    remedy: "Use the entity's own path, which says what the ID is, or name its layout in the header `id-layout`.",
  }),
  "canary-running": problem(409, "A canary of the table is running", {
    meaning: "The change is based on the current revision, while another table serves a part of the IDs.",
    remedy: "Promote or abort the canary first, or name its revision in `if-match`: then the change replaces it.",
  }),
  "no-canary": problem(409, "No canary of the table is running", {
    meaning: "There is nothing to promote or to abort.",
    remedy: "Check `GET /-/table/status`: another operator may have ended it.",
  }),
  "unknown-revision": problem(404, "Revision not available", {
    meaning: "The revision does not exist, or its text is no longer stored: the last 1,000 revisions are.",
    remedy: "Check `GET /-/table/revisions`. For older texts, check the version control of their publisher.",
  }),
  "stale-revision": problem(412, "The table was changed by someone else", {
    meaning: "The revision in `if-match` is not the latest one. Nothing was changed.",
    remedy: "Get the current table, make the change on it, and send it with its revision.",
  }),
  "precondition-required": problem(428, "Missing `if-match`", {
    meaning: "Without `if-match`, two callers could overwrite each other's changes unnoticed.",
    remedy: "Send `if-match` with the `etag` of `GET /-/table`, or of the directory's key.",
  }),
  "invalid-table": problem(422, "Invalid routing table", {
    meaning:
      "The text is not a valid routing table: each of the `faults` has a JSON pointer, a kind and a message. The first 100 are listed. `faultCount` is their number, with `more` a lower bound. Nothing was changed.",
    remedy: "Fix the table; `waybill table check` shows the line and column of each fault.",
  }),
  "control-plane-unavailable": problem(503, "Control plane unavailable", {
    meaning:
      "The Durable Object that stores the tables, or KV behind it, did not respond in time. Requests are still routed. `outcome` says whether a change may have been made: `unknown` or `none`.",
    remedy: "After `unknown`, check `GET /-/table/revisions`. With the same `if-match` a change is made at most once.",
  }),
  "entity-gone": problem(410, "Entity permanently removed", {
    meaning: "The routing table lists the ID among those removed from every region. No origin was contacted.",
    remedy: "Forget the ID. It is never assigned to another entity.",
  }),
  "body-too-large": problem(413, "Request body too large", {
    meaning: "The body is larger than the endpoint's limit.",
    remedy: "Send less; `POST /mint` takes a `count` instead of repeated bodies.",
  }),
  "wrong-entity": problem(422, "ID of another entity", {
    meaning: "The ID is well-formed, but it belongs to another entity than this path is for.",
    remedy: "Use the path of the entity named in `candidates`, or `/any/:id`.",
  }),
  "layout-mismatch": problem(422, "ID layout does not match the path", {
    meaning:
      "The routing table allows one ID layout on this path, and the request's header `id-layout` names another. Neither takes precedence.",
    remedy: "Omit `id-layout`, or use a path of the entity for the layout it names, or `/any/:id`.",
  }),
  "unknown-name": problem(422, "Name not in the routing table", {
    meaning:
      "The request names an entity, layout, country, region or slice that the current routing table does not declare, or a value that a source does not list.",
    remedy:
      "Use one of the names or values listed in `known` (of many, the first 50, and `more` says how many others there are), or declare it in the table.",
  }),
  "key-out-of-range": problem(422, "Key out of range", {
    meaning: "A value is negative, not whole, or larger than its field can hold. Values never wrap.",
    remedy: "Send a value from 0 to the `max` given.",
  }),
  "too-many-fields": problem(431, "Too many header fields", {
    meaning:
      "The request has over 256 header fields. An origin may drop some of so many, and with them the gateway's own.",
    remedy: "Send fewer fields.",
  }),
  "loop-detected": problem(508, "Routing loop detected", {
    meaning:
      "The request already passed this gateway (RFC 8586): an origin in the routing table points back to it. Or it passed another gateway with the same `GATEWAY_NAME`, which is `waybill` where it is not set.",
    remedy: "Correct the origin's URL in the routing table, or give each deployment a `GATEWAY_NAME` of its own.",
  }),
  "digest-mismatch": problem(400, "Content digest mismatch", {
    meaning:
      "The body of a create with an idempotency key does not have the `sha-256` or `sha-512` that `content-digest` says (RFC 9530). The origin did not get the whole body.",
    remedy: "Send the digest of the bytes that are sent. The key of a new request is free again.",
  }),
  "rate-limited": problem(429, "Too many requests", {
    meaning:
      "A limit of this deployment was exceeded: for a client, an entity's paths, look-ups under `/any`, or failed credentials from one network.",
    remedy: "Wait as long as `retry-after` says.",
  }),
  "internal-error": problem(500, "Internal error", {
    meaning: "A defect of the gateway. Whether an origin has acted on the request is unknown.",
    remedy: "Report it with the time of the request, and its `traceparent` if it had one.",
  }),
  "transfer-coding-unsupported": problem(501, "Transfer coding not supported", {
    meaning:
      "The body uses a transfer coding other than `chunked` alone (RFC 9112 §6.1). It cannot be forwarded without changing what the bytes mean.",
    remedy: "Send the body chunked or with its length; a `content-encoding` passes through unchanged.",
  }),
  "origin-unreachable": problem(502, "Origin unreachable", {
    meaning:
      "No connection could be made, or it failed before a response began. `proxy-status` says which, as far as the platform reports it.",
    remedy: "Retry safe requests. For others the origin may have acted: check before you repeat them.",
  }),
  "invalid-response": problem(502, "Invalid response from the origin", {
    meaning:
      "The origin responded, but its response cannot be passed on: a status above 599, a 101 that was not asked for, a failed handshake, a transfer coding other than chunked, or two framings.",
    remedy: "Do not repeat the request: the origin acted on it. Its operator must correct the response.",
  }),
  "origin-timeout": problem(504, "Origin timed out", {
    meaning: "The origin did not begin its response before its deadline, or the deadline of the whole request.",
    remedy: "Retry safe requests. For others the origin may have acted: check before you repeat them.",
  }),
  "origin-open-circuit": problem(503, "Origin circuit breaker is open", {
    meaning: "The region's origins keep failing, and enough requests wait for one already. The first answer ends this.",
    remedy: "Wait as long as `retry-after` says. No origin has seen this request.",
  }),
  "origins-disagree": problem(502, "No origin accepts the entity", {
    meaning:
      "The region's origin says that the entity is elsewhere, and the region that it names is unavailable or says so too.",
    remedy: "Retry shortly: the entity may be moving. The log has the regions for the operator.",
  }),
  "entity-moving": problem(503, "Entity is moving to another region", {
    meaning:
      "The last step of the entity's move has begun: reads continue, and writes wait until the new region has all data.",
    remedy: "Retry after `retry-after`. No origin has seen the request.",
  }),
  "body-too-large-to-replay": problem(503, "Request not replayed to the entity's new region", {
    meaning:
      "The region's origin reported after the body had been sent that the entity had moved. The body is larger than the replay buffer of this entity.",
    remedy: "Send the same request again: the new region is known now. The old one has not acted on it.",
  }),
  "table-unavailable": problem(503, "Routing table unavailable", {
    meaning: "No copy of the routing table could be loaded and verified, so nothing can be routed.",
    remedy: "Retry shortly; `/-/ready` shows the operator why.",
  }),
  "authentication-unavailable": problem(503, "Credentials cannot be verified now", {
    meaning:
      "The signing keys of Cloudflare Access could not be fetched, and no cached key is still valid. Or a setting of access is invalid, so that valid credentials may be unknown.",
    remedy: "Retry in a minute, or use a bearer token. Fix the setting that `/-/ready` and the log name.",
  }),
  "module-unavailable": problem(503, "Part of the gateway unavailable", {
    meaning:
      "The request needs a module of the gateway that is missing or damaged in this deployment. Requests that do not need it are served. No origin was contacted.",
    remedy: "Build or deploy the gateway again. The log has the module and the reason for the operator.",
  }),
  "console-unavailable": problem(503, "Console unavailable", {
    meaning: "The deployment has no build of the console, or as many live views are open in it as it serves.",
    remedy: "Build the console: `waybill build` and `npm run deploy` do. Close other views of the console.",
  }),
  "signing-unavailable": problem(503, "Requests cannot be signed", {
    meaning: "The setting `ORIGIN_SIGNING_KEYS` is invalid. No origin was contacted: it would get an unsigned request.",
    remedy: "Fix the setting; `waybill config check` shows what is wrong.",
  }),
  "clock-behind": problem(503, "Clock went backwards", {
    meaning: "The clock is further behind the last minted ID than can be bridged without repeating IDs.",
    remedy: "Retry shortly; another instance may respond.",
  }),
  "answer-too-large": problem(502, "Response too large for a list of many", {
    meaning: "An answer for many IDs has room for bodies up to a limit, one by one and together.",
    remedy: "Get this ID alone, or ask for fewer at once.",
  }),
  "answer-withheld": problem(502, "Origin response withheld", {
    meaning:
      "The response may contain internal IDs of public entities that cannot be found and replaced: it is not JSON where only JSON is allowed, a partial document, in a coding that cannot be decoded, or marked `no-transform`.",
    remedy:
      "Change the origin's response, or the entity's entry in the routing table. The origin has acted on the request.",
  }),
} as const;

export type CoreSlug = keyof typeof CORE;

export type ProblemSlug = CoreSlug | keyof typeof FEATURE_PROBLEMS;

const typeOf = ({ status, title, meaning, remedy }: ProblemType): ProblemType => ({ status, title, meaning, remedy });

/** Every problem type (RFC 9457): those of the core, then those of each feature. */
export const CATALOGUE = {
  ...CORE,
  ...Object.fromEntries(Object.entries(FEATURE_PROBLEMS).map(([slug, problem]) => [slug, typeOf(problem)])),
} as Readonly<Record<ProblemSlug, ProblemType>>;

export const PROBLEM_SLUGS = Object.keys(CATALOGUE) as readonly ProblemSlug[];

/** The problem type's URI: a path, so that it is the same on every host. */
export const problemTypePath = (slug: ProblemSlug): string => `/-/problems/${slug}`;
