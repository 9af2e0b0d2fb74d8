import { FEATURE_TEXTS } from "../features/problem-texts.ts";
import { CATALOGUE, type CoreSlug, type ProblemSlug } from "./catalogue.ts";
import type { ProblemForm, ProblemTexts } from "./feature.ts";

/** The page of each problem type of the core. Pages and documents alone load it: a problem has its own `detail`. */
const CORE_TEXTS: Readonly<Record<CoreSlug, ProblemTexts>> = {
  "malformed-request": {
    meaning: "The request's host, target, body or a header does not have the form that this endpoint requires.",
    remedy: "Fix the field named in `detail`. Sending the same request again gives the same response.",
  },
  "malformed-id": {
    meaning:
      "The text is not a valid ID of any layout allowed here. Parsing is strict: exact length and punctuation, ASCII only, no trimming, no decoding. No origin was contacted.",
    remedy: "Compare the text with the `faults`: each names a layout and why the text does not match it.",
  },
  "region-unknown": {
    meaning:
      "The path carries no ID, and no source that the routing table declares for such requests (a header, a token's claim, a cookie, the client's country or continent) names a region. `unlisted` has the values that were read and that the table does not list.",
    remedy: "Send what one of the `sources` reads.",
  },
  "hop-refused": {
    meaning:
      "The request says by `waybill-hop` that a gateway of the mesh sent it, and this gateway does not believe that: `why` is `no-keys` (it has no valid `PEER_KEYS`), `form`, `unknown-key`, `changed` (another request was signed, or with another key) or `late` (more than 60 s from its clock). No origin was contacted.",
    remedy:
      "Clients leave the field out. Operators give all gateways of the mesh the same `PEER_KEYS`, keep their clocks right, and let no proxy between them change paths.",
  },
  "hop-misdirected": {
    meaning:
      "A gateway of the mesh was asked for a region that its `SELF_REGIONS` does not name, or for an entity of which its table knows a newer move. The gateway that asked decides anew, once; clients never see this.",
    remedy: "Give all gateways the same table, and each its `SELF_REGIONS`.",
  },
  "peers-disagree": {
    meaning:
      "The region is served by another gateway of the mesh, which does not accept this gateway's request: they have different tables, `SELF_REGIONS`, `PEER_KEYS` or clocks. `detail` says which.",
    remedy:
      "Send the request again: tables differ for seconds while one is published. If it lasts, the operator compares the settings of both gateways.",
  },
  unauthenticated: {
    meaning:
      "This endpoint is for viewers or operators, or the create needs a claim, and the request has no valid credential. Wrong, unknown and expired tokens get the same response.",
    remedy:
      "Send a token of the deployment as `authorization: Bearer …`, or sign in through its Cloudflare Access. The log has the reason for the operator.",
  },
  forbidden: {
    meaning:
      "The credential is valid, but its scope is too small; or a browser sent the request for another site, or did not say for which (`origin`, `sec-fetch-site`), or to another host than the console's (`CONSOLE_HOST`). Or the console may not show the entity (`CONSOLE_PREVIEW`). Or the pages are open (`OPEN_PAGES`), and `host` is neither an address nor localhost.",
    remedy:
      "Use a credential with the scope in `needs`; programs send a bearer token. Call open pages by localhost or an address, or close them by `ADMIN_TOKENS` or Access.",
  },
  "unrouted-path": {
    meaning: "The path is neither one of the gateway's own nor one that the routing table gives to an entity.",
    remedy: "Check the path, or declare an entity, or its `create`, in the routing table.",
  },
  "unknown-id": {
    meaning:
      "No layout and key in the routing table matches the text. `candidates` lists how it can be read and what excludes each reading. It is empty where the table has public IDs, so that callers cannot tell a wrong ID from an unassigned one.",
    remedy: "Check where the ID comes from; `GET /-/ids/:id` explains it in full.",
  },
  "unassigned-key": {
    meaning:
      "The ID was read unambiguously, but no route of the table matches its key, and the table declares no default.",
    remedy: "Assign the key to a region in the routing table. The gateway never guesses one.",
  },
  "not-found": {
    meaning: "Paths below `/-/` belong to the gateway itself, and it has no endpoint at this one.",
    remedy: "`GET /-/openapi.json` lists all endpoints.",
  },
  "method-not-allowed": {
    meaning: "This endpoint does not support the method; the `allow` header lists those it supports.",
    remedy: "Use one of the methods listed.",
  },
  "request-timeout": {
    meaning: "The client stopped sending the request's body for longer than the idle timeout.",
    remedy: "Send the request again. The origin received an incomplete message.",
  },
  "ambiguous-id": {
    meaning:
      "More than one layout or entity matches the text, and they do not route to the same place. A guess could send the request to the wrong region.",
    remedy: "Use the entity's own path, which says what the ID is, or name its layout in the header `id-layout`.",
  },
  "canary-running": {
    meaning: "The change is based on the current revision, while another table serves a part of the IDs.",
    remedy: "Promote or abort the canary first, or name its revision in `if-match`: then the change replaces it.",
  },
  "no-canary": {
    meaning: "There is nothing to promote or to abort.",
    remedy: "Check `GET /-/table/status`: another operator may have ended it.",
  },
  "state-refused": {
    meaning:
      "The rows do not fit, the object that they are for has contents of its own, or the gateway is an edge, which keeps no state. An object that is being imported changes as a whole or not at all.",
    remedy:
      "Import the whole file into a gateway that is empty; of several machines, into a state node. docs/operate/moving.md has each reason.",
  },
  "unknown-revision": {
    meaning: "The revision does not exist, or its text is no longer stored: the last 1,000 revisions are.",
    remedy: "Check `GET /-/table/revisions`. For older texts, check the version control of their publisher.",
  },
  "stale-revision": {
    meaning: "The revision in `if-match` is not the latest one. Nothing was changed.",
    remedy: "Get the current table, make the change on it, and send it with its revision.",
  },
  "precondition-required": {
    meaning: "Without `if-match`, two callers could overwrite each other's changes unnoticed.",
    remedy: "Send `if-match` with the `etag` of `GET /-/table`, or of the directory's key.",
  },
  "invalid-table": {
    meaning:
      "The text is not a valid routing table: each of the `faults` has a JSON pointer, a kind and a message. The first 100 are listed. `faultCount` is their number, with `more` a lower bound. Nothing was changed.",
    remedy: "Fix the table; `waybill table check` shows the line and column of each fault.",
  },
  "control-plane-unavailable": {
    meaning:
      "The Durable Object that stores the tables, or KV behind it, did not respond in time. Requests are still routed. `outcome` says whether a change may have been made: `unknown` or `none`.",
    remedy: "After `unknown`, check `GET /-/table/revisions`. With the same `if-match` a change is made at most once.",
  },
  "entity-gone": {
    meaning: "The routing table lists the ID among those removed from every region. No origin was contacted.",
    remedy: "Forget the ID. It is never assigned to another entity.",
  },
  "body-too-large": {
    meaning: "The body is larger than the endpoint's limit.",
    remedy: "Send less; `POST /mint` takes a `count` instead of repeated bodies.",
  },
  "wrong-entity": {
    meaning: "The ID is well-formed, but it belongs to another entity than this path is for.",
    remedy: "Use the path of the entity named in `candidates`, or `/any/:id`.",
  },
  "layout-mismatch": {
    meaning:
      "The routing table allows one ID layout on this path, and the request's header `id-layout` names another. Neither takes precedence.",
    remedy: "Omit `id-layout`, or use a path of the entity for the layout it names, or `/any/:id`.",
  },
  "unknown-name": {
    meaning:
      "The request names an entity, layout, country, region or slice that the current routing table does not declare, or a value that a source does not list.",
    remedy:
      "Use one of the names or values listed in `known` (of many, the first 50, and `more` says how many others there are), or declare it in the table.",
  },
  "key-out-of-range": {
    meaning: "A value is negative, not whole, or larger than its field can hold. Values never wrap.",
    remedy: "Send a value from 0 to the `max` given.",
  },
  "too-many-fields": {
    meaning:
      "The request has over 256 header fields. An origin may drop some of so many, and with them the gateway's own.",
    remedy: "Send fewer fields.",
  },
  "loop-detected": {
    meaning:
      "The request already passed this gateway (RFC 8586): an origin in the routing table points back to it. Or it passed another gateway with the same `GATEWAY_NAME`, which is `waybill` where it is not set.",
    remedy: "Correct the origin's URL in the routing table, or give each deployment a `GATEWAY_NAME` of its own.",
  },
  "digest-mismatch": {
    meaning:
      "The body of a create with an idempotency key does not have the `sha-256` or `sha-512` that `content-digest` says (RFC 9530). The origin did not get the whole body.",
    remedy: "Send the digest of the bytes that are sent. The key of a new request is free again.",
  },
  "rate-limited": {
    meaning:
      "A limit of this deployment was exceeded: for a client, an entity's paths, look-ups under `/any`, or failed credentials from one network.",
    remedy: "Wait as long as `retry-after` says.",
  },
  "internal-error": {
    meaning: "A defect of the gateway. Whether an origin has acted on the request is unknown.",
    remedy: "Report it with the time of the request, and its `traceparent` if it had one.",
  },
  "transfer-coding-unsupported": {
    meaning:
      "The body uses a transfer coding other than `chunked` alone (RFC 9112 §6.1). It cannot be forwarded without changing what the bytes mean.",
    remedy: "Send the body chunked or with its length; a `content-encoding` passes through unchanged.",
  },
  "origin-unreachable": {
    meaning:
      "No connection could be made, or it failed before a response began. `proxy-status` says which, as far as the platform reports it.",
    remedy: "Retry safe requests. For others the origin may have acted: check before you repeat them.",
  },
  "invalid-response": {
    meaning:
      "The origin responded, but its response cannot be passed on: a status above 599, a 101 that was not asked for, a failed handshake, a transfer coding other than chunked, or two framings.",
    remedy: "Do not repeat the request: the origin acted on it. Its operator must correct the response.",
  },
  "origin-timeout": {
    meaning: "The origin did not begin its response before its deadline, or the deadline of the whole request.",
    remedy: "Retry safe requests. For others the origin may have acted: check before you repeat them.",
  },
  "origin-open-circuit": {
    meaning: "The region's origins keep failing, and enough requests wait for one already. The first answer ends this.",
    remedy: "Wait as long as `retry-after` says. No origin has seen this request.",
  },
  "origins-disagree": {
    meaning:
      "The region's origin says that the entity is elsewhere, and the region that it names is unavailable or says so too.",
    remedy: "Retry shortly: the entity may be moving. The log has the regions for the operator.",
  },
  "entity-moving": {
    meaning:
      "The last step of the entity's move has begun: reads continue, and writes wait until the new region has all data.",
    remedy: "Retry after `retry-after`. No origin has seen the request.",
  },
  "body-too-large-to-replay": {
    meaning:
      "The region's origin reported after the body had been sent that the entity had moved. The body is larger than the replay buffer of this entity.",
    remedy: "Send the same request again: the new region is known now. The old one has not acted on it.",
  },
  "table-unavailable": {
    meaning: "No copy of the routing table could be loaded and verified, so nothing can be routed.",
    remedy: "Retry shortly; `/-/ready` shows the operator why.",
  },
  "authentication-unavailable": {
    meaning:
      "The signing keys of Cloudflare Access could not be fetched, and no cached key is still valid. Or a setting of access is invalid, so that valid credentials may be unknown.",
    remedy: "Retry in a minute, or use a bearer token. Fix the setting that `/-/ready` and the log name.",
  },
  "module-unavailable": {
    meaning:
      "The request needs a module of the gateway that is missing or damaged in this deployment. Requests that do not need it are served. No origin was contacted.",
    remedy: "Build or deploy the gateway again. The log has the module and the reason for the operator.",
  },
  "console-unavailable": {
    meaning: "The deployment has no build of the console, or as many live views are open in it as it serves.",
    remedy:
      "Build the console: `waybill build --out FOLDER` and `npm run deploy` do. Close other views of the console.",
  },
  "signing-unavailable": {
    meaning: "The setting `ORIGIN_SIGNING_KEYS` is invalid. No origin was contacted: it would get an unsigned request.",
    remedy: "Fix the setting; `waybill config check` shows what is wrong.",
  },
  "clock-behind": {
    meaning: "The clock is further behind the last minted ID than can be bridged without repeating IDs.",
    remedy: "Retry shortly; another instance may respond.",
  },
  "answer-too-large": {
    meaning: "An answer for many IDs has room for bodies up to a limit, one by one and together.",
    remedy: "Get this ID alone, or ask for fewer at once.",
  },
  "answer-withheld": {
    meaning:
      "The response may contain internal IDs of public entities that cannot be found and replaced: it is not JSON where only JSON is allowed, a partial document, in a coding that cannot be decoded, or marked `no-transform`.",
    remedy:
      "Change the origin's response, or the entity's entry in the routing table. The origin has acted on the request.",
  },
};

/** A problem type as its page shows it. */
export function describeProblem(slug: ProblemSlug): ProblemForm & ProblemTexts {
  const { status, title } = CATALOGUE[slug];
  const { meaning, remedy } = isCore(slug) ? CORE_TEXTS[slug] : FEATURE_TEXTS[slug];
  return { status, title, meaning, remedy };
}

const isCore = (slug: ProblemSlug): slug is CoreSlug => Object.hasOwn(CORE_TEXTS, slug);
