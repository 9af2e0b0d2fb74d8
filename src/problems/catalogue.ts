export interface ProblemType {
  readonly status: number;
  readonly title: string;
  readonly meaning: string;
  readonly remedy: string;
}

type Texts = Pick<ProblemType, "meaning" | "remedy">;

const problem = (status: number, title: string, texts: Texts): ProblemType => ({ status, title, ...texts });

/** Every problem type (RFC 9457). Slugs are stable: clients switch on them. `meaning` and `remedy` are its page. */
export const CATALOGUE = {
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
  "create-key-missing": problem(400, "No key for the new ID", {
    meaning:
      "None of the sources that the routing table declares for a field of the new ID's key says anything. Nothing was created.",
    remedy: "Send what one of the `sources` reads.",
  }),
  "create-key-invalid": problem(400, "Invalid key for the new ID", {
    meaning:
      "A source of the new ID's key says something that is no value of the field: a country that the routing table does not have, or no decimal number. Nothing was created.",
    remedy: "Correct what `source` names.",
  }),
  "create-count": problem(400, "Not so many entities at once", {
    meaning:
      "The body is a list where the collection creates one entity, or the list that it declares is absent, empty or too long. Nothing was created.",
    remedy: "Send one entity a request, or as many as `max` says.",
  }),
  "list-cursor-invalid": problem(400, "Invalid cursor", {
    meaning:
      "The cursor is not one of this gateway, has expired, or belongs to another list, other filters or another caller. `why` says which.",
    remedy: "Start again without a cursor.",
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
  "create-regions": problem(409, "The new entity would be in several regions", {
    meaning:
      "The IDs of one request belong to several regions, or the entity above the collection is in another region than the key of the new ID. Nothing was created.",
    remedy: "Send a request for each region; below a moved entity, create with a key of its region.",
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
  "malformed-key": problem(400, "Malformed key", {
    meaning:
      "The text is no key of its directory: its percent-encoding, its characters or its length are not those of the declared form. No origin was contacted.",
    remedy: "Correct what `detail` names. The routing table declares the form.",
  }),
  "unknown-key": problem(404, "Unknown key", {
    meaning: "The directory has no such key, or its claim is not confirmed yet.",
    remedy: "Check the key. A key that was claimed just now is known after the directory's `absentSeconds`.",
  }),
  "key-reserved": problem(409, "The key is reserved", {
    meaning: "Another claim holds the key until its lease ends. Nothing was changed.",
    remedy: "Retry after `retry-after`, or choose another key.",
  }),
  "claim-lost": problem(409, "The claim does not hold the key", {
    meaning: "The key is not reserved by this operation any more: its lease ended, or it was released or taken over.",
    remedy: "Undo what was to be named by the key, or reserve it again.",
  }),
  "key-taken": problem(412, "The key is taken", {
    meaning: "The key is confirmed, for another owner or in another region. Nothing was changed.",
    remedy: "Choose another key. A key that is yours is moved by `if-match`.",
  }),
  "stale-key": problem(412, "The key was changed by someone else", {
    meaning: "`if-match` does not name the key's current version. Nothing was changed.",
    remedy: "Get the key, and send the change with its `etag`.",
  }),
  "directory-unavailable": problem(503, "Directory unavailable", {
    meaning:
      "No layer of the directory could say where the key is, or too many unknown keys are asked for. The key does not count as absent.",
    remedy: "Retry after `retry-after`. A claim may be sent again as it was.",
  }),
  "directory-full": problem(507, "The directory is full", {
    meaning: "The Durable Object of the key has no room for another one. Keys that are there are served and changed.",
    remedy: "Remove keys of the directory, or ask the operator.",
  }),
  "stale-revision": problem(412, "The table was changed by someone else", {
    meaning: "The revision in `if-match` is not the latest one. Nothing was changed.",
    remedy: "Get the current table, make the change on it, and send it with its revision.",
  }),
  "precondition-required": problem(428, "Missing `if-match`", {
    meaning: "Without `if-match`, two callers could overwrite each other's changes unnoticed.",
    remedy: "Send `if-match` with the `etag` of `GET /-/table`, or of the directory's key.",
  }),
  "ids-disagree": problem(422, "The IDs lead to several regions", {
    meaning:
      "The request carries several IDs where the routing table reads them, and they belong to several regions. `ids` lists each with its place. No origin was contacted.",
    remedy: "Send a request for each region.",
  }),
  "id-not-in-time": problem(422, "The ID comes too late in the body", {
    meaning:
      "The routing table reads an ID from the body, within `withinBytes` of its first bytes. They have been read, and the ID has not ended. No origin was contacted.",
    remedy: "Send the member or field with the ID first.",
  }),
  "id-unreadable": problem(422, "No ID can be read there", {
    meaning:
      "Where the routing table reads an ID is something else: several values, an object, a fraction, or a body whose type or coding the gateway does not read. Passed over, it might lead to another region. No origin was contacted.",
    remedy: "Send what `detail` asks for.",
  }),
  "invalid-table": problem(422, "Invalid routing table", {
    meaning:
      "The text is not a valid routing table: each of the `faults` has a JSON pointer, a kind and a message. The first 100 are listed. `faultCount` is their number, with `more` a lower bound. Nothing was changed.",
    remedy: "Fix the table; `waybill table check` shows the line and column of each fault.",
  }),
  "unknown-pack": problem(404, "Unknown pack or page", {
    meaning:
      "A page was sent before the pack's header, or the pack has no page of this number. Without the header the bytes cannot be verified.",
    remedy: "Send the header first: `PUT /-/table/packs/:sha256`. `waybill table upload-packs` does all of it.",
  }),
  "invalid-pack": problem(422, "Bytes do not match the pack", {
    meaning:
      "The digest of the header is not that in the path, the digest of the page is not that in the header, or the ranges are invalid. `part` names the part and `fault` the error. Nothing was stored.",
    remedy: "Send the bytes again, cut at the offsets of the header; `waybill table check` verifies the file.",
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
  "stale-client-id": problem(422, "Stale client ID", {
    meaning:
      "The client made the ID too long before or after the clock. Both ends of `expected` are inclusive. For the `why` `clock-too-far` they are for the client's clock.",
    remedy: "Correct the client's clock and make a new ID.",
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
  "idempotency-key-invalid": problem(400, "Invalid idempotency key", {
    meaning: "`idempotency-key` is not one line of 1 to 255 visible ASCII characters, bare or as a quoted string.",
    remedy: "Send one such key, for example a UUID. Nothing was done.",
  }),
  "idempotency-key-missing": problem(400, "Missing idempotency key", {
    meaning: "The routing table requires `idempotency-key` for creates of this entity.",
    remedy: "Send a new key for each create, and the same key with each retry.",
  }),
  "idempotency-key-in-use": problem(409, "Idempotency key in use", {
    meaning: "Another request with the same key is in progress.",
    remedy: "Retry with the same key after `retry-after`.",
  }),
  "digest-mismatch": problem(400, "Content digest mismatch", {
    meaning:
      "The body of a create with an idempotency key does not have the `sha-256` or `sha-512` that `content-digest` says (RFC 9530). The origin did not get the whole body.",
    remedy: "Send the digest of the bytes that are sent. The key of a new request is free again.",
  }),
  "idempotency-key-mismatch": problem(422, "Idempotency key of another request", {
    meaning: "The key was used with another method, target, content type or body.",
    remedy: "Use a new key for a new request; repeat a request byte for byte.",
  }),
  "coding-not-accepted": problem(406, "Kept response in another coding", {
    meaning:
      "The request was done before. Its response was kept in the content coding that the first request asked for; `accept-encoding` refuses it now, and the gateway cannot undo it.",
    remedy: "Retry with the same key and the first request's `accept-encoding`. Nothing was done again.",
  }),
  "idempotency-keys-exhausted": problem(429, "Too many idempotency keys", {
    meaning: "Keys are kept until they expire. The caller, or all callers, reached the limit `max` of `which`.",
    remedy: "Wait until keys expire. Nothing was done.",
  }),
  "idempotency-unavailable": problem(503, "Idempotency keys unavailable", {
    meaning: "The Durable Object of the key did not respond. Without it a repeated request could act twice.",
    remedy: "Retry with the same key.",
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
  "list-incomplete": problem(503, "List incomplete", {
    meaning:
      "Regions of the list gave no page that can be used, and the table wants all or nothing, or no region gave one. `regions` says what each lacked.",
    remedy: "Retry with the same cursor.",
  }),
  "cursors-unavailable": problem(503, "No key for cursors", {
    meaning: "Cursors of lists are sealed with a key of the deployment, and it has none that all its instances share.",
    remedy: "Give the deployment `ORIGIN_SIGNING_KEYS` or `PUBLIC_ID_KEYS`.",
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
  "public-ids-unavailable": problem(503, "Public IDs unavailable", {
    meaning: "The routing table makes an entity public, and this deployment has no key for its public IDs.",
    remedy: "Give the deployment the secret `PUBLIC_ID_KEYS`. Internal IDs are never shown instead.",
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
  "sequence-unavailable": problem(503, "Sequence unavailable", {
    meaning:
      "Numbers for this group are reserved from a durable sequence, which did not respond. Or the setting `SEQUENCE_RANGE` is invalid.",
    remedy: "Retry shortly; no number is ever given twice. The operator corrects the setting, which `/-/ready` lists.",
  }),
  "sequence-range-refused": problem(503, "Sequence counted in another way", {
    meaning:
      "`SEQUENCE_RANGE` does not go on from the keys that this deployment has given: it has no first key though the sequence began with one, or its first key is not above them.",
    remedy: "The operator sets the former range again, or one `from` a key that no gateway has given. None was given.",
  }),
  "sequence-ahead": problem(503, "Numbers used up for now", {
    meaning:
      "IDs of this layout take their time and counter from a sequence, which is 60 s ahead of the clock. The refused request used none of it up.",
    remedy: "Retry after `retry-after`, or ask for fewer IDs.",
  }),
  "sequence-exhausted": problem(503, "Sequence exhausted", {
    meaning: "Every primary key that fits the field has been assigned.",
    remedy: "Use another group for new entities.",
  }),
} as const;

export type ProblemSlug = keyof typeof CATALOGUE;

export const PROBLEM_SLUGS = Object.keys(CATALOGUE) as readonly ProblemSlug[];

/** The problem type's URI: a path, so that it is the same on every host. */
export const problemTypePath = (slug: ProblemSlug): string => `/-/problems/${slug}`;
