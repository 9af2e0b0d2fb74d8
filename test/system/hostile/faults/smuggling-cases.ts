/** One attempt to make the gateway and an origin see different requests in the same bytes. One character is one byte. */
export interface Attempt {
  readonly name: string;
  readonly bytes: string;
  /** Statuses that the client gets, in order, until the connection ends. */
  readonly answers: readonly number[];
  /** Method, target and body of every whole request that reaches the origin. */
  readonly reach: readonly string[];
}

/** Stands for the path of the attempt, and is as long. */
export const PATH = "/parcel/________-____-____-____-____________";
const HOST = "host: gw.test";

const request = (line: string, ...fields: readonly string[]) => [line, ...fields, "", ""].join("\r\n");
const get = (...fields: readonly string[]) => request(`GET ${PATH} HTTP/1.1`, HOST, ...fields);
const post = (...fields: readonly string[]) => request(`POST ${PATH} HTTP/1.1`, HOST, ...fields);
const line = (text: string) => request(text, HOST);
const hosts = (...fields: readonly string[]) => request(`GET ${PATH} HTTP/1.1`, ...fields);

const CHUNKED = "transfer-encoding: chunked";
const CHUNKS = "5\r\nhello\r\n0\r\n\r\n";

/** A request inside another one, which must never be taken for one of its own. */
const SECOND = request(`GET ${PATH}?second HTTP/1.1`, HOST);
const asChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const measured = (text: string) => `content-length: ${text.length}`;

const GET = `GET ${PATH} `;
const POST = `POST ${PATH} `;
const POST_HELLO = `${POST}hello`;
const GET_SECOND = `GET ${PATH}?second `;

const refused = (name: string, bytes: string, ...answers: readonly number[]): Attempt => ({
  name,
  bytes,
  answers: answers.length === 0 ? [400] : answers,
  reach: [],
});
const passed = (name: string, bytes: string, ...reach: readonly string[]): Attempt => ({
  name,
  bytes,
  answers: reach.map(() => 200),
  reach,
});

/** Two framings at once, or one that is spelt so that some take it for none (RFC 9112 §6.1). */
const CODINGS: readonly Attempt[] = [
  passed(
    "a length before a coding: the coding counts, and the connection ends",
    `${post(measured(`0\r\n\r\n${SECOND}`), CHUNKED)}0\r\n\r\n${SECOND}`,
    POST,
  ),
  passed("a coding before a length: the same", post(CHUNKED, "content-length: 4") + asChunk(SECOND), POST + SECOND),
  passed("a coding and a length of 0", post(CHUNKED, "content-length: 0") + CHUNKS, POST_HELLO),
  refused("a coding, and another one that nobody knows", post(CHUNKED, "transfer-encoding: x") + CHUNKS + SECOND),
  refused("gzip, then chunked", post("transfer-encoding: gzip, chunked") + CHUNKS, 501),
  refused("chunked twice", post("transfer-encoding: chunked, chunked") + CHUNKS, 501),
  refused("xchunked", post("transfer-encoding: xchunked") + CHUNKS + SECOND),
  refused("chunked, then identity", post("transfer-encoding: chunked, identity") + CHUNKS + SECOND),
  refused("identity", `${post("transfer-encoding: identity", "content-length: 5")}hello`),
  refused("a coding without a name", `${post("transfer-encoding:", "content-length: 5")}hello`),
  refused("chunked with a parameter", post("transfer-encoding: chunked;q=1") + CHUNKS + SECOND),
  refused("chunked in quotes", post('transfer-encoding: "chunked"') + CHUNKS + SECOND),
  refused(
    "a space before the colon of the coding",
    post("transfer-encoding : chunked", "content-length: 5") + CHUNKS + SECOND,
  ),
  refused("a vertical tab after chunked", post("transfer-encoding: chunked\x0b") + CHUNKS + SECOND),
  refused("a vertical tab before chunked", post("transfer-encoding:\x0bchunked") + CHUNKS + SECOND),
  refused("a coding on a folded line", post("transfer-encoding:\r\n chunked") + CHUNKS + SECOND),
  refused("a coding that begins with a space", post(" transfer-encoding: chunked") + CHUNKS + SECOND),
  refused("a coding after a bare CR", post("x-a: b\rtransfer-encoding: chunked") + CHUNKS + SECOND),
  passed(
    "a coding after a bare LF, which ends a line",
    post("x-a: b\ntransfer-encoding: chunked") + CHUNKS + SECOND,
    POST_HELLO,
    GET_SECOND,
  ),
  passed("a tab before chunked", post("transfer-encoding:\tchunked") + CHUNKS, POST_HELLO),
  passed("capitals", post("TRANSFER-ENCODING: CHUNKED") + CHUNKS, POST_HELLO),
  passed(
    "an underscore in place of the hyphen",
    `${post("transfer_encoding: chunked", "content_length: 3", "content-length: 5")}hello`,
    POST_HELLO,
  ),
  refused("a coding in HTTP/1.0", request(`POST ${PATH} HTTP/1.0`, HOST, CHUNKED) + CHUNKS + SECOND),
];

/** A length that some read as another one (RFC 9110 §8.6). */
const LENGTHS: readonly Attempt[] = [
  refused("two lengths", `${post("content-length: 5", measured(`hello${SECOND}`))}hello${SECOND}`),
  refused("a list of two lengths", `${post("content-length: 5, 6")}hello${SECOND}`),
  ...[
    "+5",
    "-5",
    "0x5",
    "5 5",
    "5.0",
    "5e0",
    "",
    "\xd9\xa5",
    "5\0",
    "99999999999999999999",
    "18446744073709551621",
  ].map((text) => refused(`a length of ${JSON.stringify(text)}`, `${post(`content-length: ${text}`)}hello${SECOND}`)),
  refused("a length on a folded line", `${post("content-length:\r\n 5")}hello${SECOND}`),
  refused("a space before the colon of the length", `${post("content-length : 5")}hello${SECOND}`),
  passed("a length with zeros before it", `${post("content-length: 0005")}hello`, POST_HELLO),
  passed("no length: what follows is another request", post() + SECOND, POST, GET_SECOND),
  passed(
    "a length named by connection",
    `${post("connection: content-length", "content-length: 5")}hello${SECOND}`,
    POST_HELLO,
    GET_SECOND,
  ),
  passed(
    "a coding named by connection",
    post("connection: transfer-encoding", CHUNKED) + CHUNKS + SECOND,
    POST_HELLO,
    GET_SECOND,
  ),
];

/** Chunks of which it is unclear where they end (RFC 9112 §7.1). */
const CHUNK_SIZES: readonly Attempt[] = [
  passed("extensions", `${post(CHUNKED)}5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n`, POST_HELLO),
  passed("a space after the size", `${post(CHUNKED)}5 \r\nhello\r\n0\r\n\r\n`, POST_HELLO),
  passed("many zeros before the size", `${post(CHUNKED)}${"0".repeat(100)}5\r\nhello\r\n000\r\n\r\n`, POST_HELLO),
  passed(
    "a trailer with a length and a host",
    `${post(CHUNKED)}5\r\nhello\r\n0\r\ncontent-length: 3\r\nhost: evil.test\r\n\r\n`,
    POST_HELLO,
  ),
  ...[
    ["an extension with a bare LF", `2;\nxx\r\n${SECOND.length.toString(16)}\r\n0\r\n\r\n`],
    ["an extension of 100 kB", `5;${"a".repeat(100_000)}\r\nhello\r\n0\r\n\r\n`],
    ["a size beyond 64 bits", "10000000000000005\r\nhello\r\n0\r\n\r\n"],
    ["the greatest size", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n"],
    ["a size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"],
    ["a size with a plus", "+5\r\nhello\r\n0\r\n\r\n"],
    ["a size with a minus", "-5\r\nhello\r\n0\r\n\r\n"],
    ["no size", "\r\nhello\r\n0\r\n\r\n"],
    ["a space before the size", " 5\r\nhello\r\n0\r\n\r\n"],
    ["bare LFs", "5\nhello\n0\n\n"],
    ["bare CRs", "5\rhello\r0\r\r"],
    ["no end of line after the data", "5\r\nhello0\r\n\r\n"],
    ["more data than the size", "3\r\nhello\r\n0\r\n\r\n"],
    ["no last chunk", "5\r\nhello\r\n"],
    ["half a chunk", "a\r\nhello"],
  ].map(([name = "", chunks = ""]) =>
    refused(name, `${post(CHUNKED)}${chunks}${name.startsWith("no last") || name.startsWith("half") ? "" : SECOND}`),
  ),
  refused("half of a measured body", `${post("content-length: 10")}hello`),
];

/** Lines that end in another place for some (RFC 9112 §2.2, §5). */
const HEADS: readonly Attempt[] = [
  refused("a folded field", get("x-a: b", " c") + SECOND),
  refused("a length in a folded line", `${get("x-a: b", "\tcontent-length: 5")}hello`),
  refused("a first line that is folded", `GET ${PATH} HTTP/1.1\r\n ${HOST}\r\n\r\n`),
  refused("bare CRs", `GET ${PATH} HTTP/1.1\r${HOST}\r\r`),
  passed("bare LFs, which end a line", `GET ${PATH} HTTP/1.1\n${HOST}\n\n`, GET),
  passed("a blank line of a bare LF", `GET ${PATH} HTTP/1.1\r\n${HOST}\r\nx-a: b\n\n${SECOND}`, GET, GET_SECOND),
  refused("NUL in a value", get("x-a: b\0c")),
  refused("NUL in a name", get("x\0a: b")),
  refused("a field without a colon", get("no colon")),
  refused("a field without a name", get(": x")),
  refused("a space in a name", get("x a: b")),
  refused("a tab after the method", line(`GET\t${PATH} HTTP/1.1`)),
  refused("two spaces after the method", line(`GET  ${PATH} HTTP/1.1`)),
  refused("two spaces before the version", line(`GET ${PATH}  HTTP/1.1`)),
  refused("a space in the target", line(`GET ${PATH} ?x HTTP/1.1`)),
  refused("something after the version", line(`GET ${PATH} HTTP/1.1 x`) + SECOND),
  refused("a space before the method", line(` GET ${PATH} HTTP/1.1`)),
  refused("NUL in the method", line(`GE\0T ${PATH} HTTP/1.1`)),
  refused("a method in lower case", line(`get ${PATH} HTTP/1.1`), 501),
  refused("a method that nobody knows", line(`SMUGGLE ${PATH} HTTP/1.1`), 501),
  refused("a method of 10,000 letters", line(`${"A".repeat(10_000)} ${PATH} HTTP/1.1`), 501),
  refused("LF in the target", line(`GET ${PATH}?a\nb HTTP/1.1`)),
  refused("CR in the target", line(`GET ${PATH}?a\rb HTTP/1.1`)),
  refused("NUL in the target", line(`GET ${PATH}?a\0b HTTP/1.1`)),
  refused("a request line of 200 kB", line(`GET ${PATH}?${"x".repeat(200_000)} HTTP/1.1`) + SECOND, 414),
  refused(
    "a target of 65,500 octets, for the gateway to refuse",
    line(`GET /nowhere?${"x".repeat(65_491)} HTTP/1.1`),
    404,
  ),
  refused("a target of 65,600 octets", line(`GET /nowhere?${"x".repeat(65_591)} HTTP/1.1`) + SECOND, 414),
  refused(
    "a field of 480,000 octets, for the gateway to refuse",
    request("GET /nowhere HTTP/1.1", HOST, `x-a: ${"x".repeat(480_000)}`),
    404,
  ),
  refused("a field of 530,000 octets", get(`x-a: ${"x".repeat(530_000)}`) + SECOND, 431),
  refused("a field of 1 MB", get(`x-a: ${"x".repeat(1_000_000)}`) + SECOND, 431),
  refused("20,000 fields", get(...Array.from({ length: 20_000 }, (_, index) => `x-${index}: y`)) + SECOND, 431),
  passed("blank lines before a request", `\r\n\r\n\r\n${get()}`, GET),
  { ...passed("octets after a request", `${get()}no request`, GET), answers: [200] },
  refused("a TLS hello", `\x16\x03\x01\x02\x00\x01\x00${SECOND}`),
  { ...refused("half a head", `GET ${PATH} HTTP/1.1\r\nhost: gw`), answers: [] },
];

/** Protocols, targets and hosts that lead elsewhere for some (RFC 9112 §3). */
const PLACES: readonly Attempt[] = [
  refused("HTTP/0.9", `GET ${PATH}\r\n`),
  refused("HTTP/1.2", line(`GET ${PATH} HTTP/1.2`)),
  refused("HTTP/2.0", line(`GET ${PATH} HTTP/2.0`)),
  refused("http/1.1", line(`GET ${PATH} http/1.1`)),
  { ...refused("HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), answers: [] },
  passed(
    "HTTP/1.0 that stays open",
    request(`GET ${PATH} HTTP/1.0`, HOST, "connection: keep-alive") + SECOND,
    GET,
    GET_SECOND,
  ),
  refused("HTTP/1.0 without a host", request(`GET ${PATH} HTTP/1.0`)),
  passed("an absolute target with another host and a user", line(`GET http://gw.test@evil.test${PATH} HTTP/1.1`), GET),
  refused("an authority for a target", line("GET evil.test:80 HTTP/1.1"), 200),
  refused("OPTIONS *", line("OPTIONS * HTTP/1.1"), 404),
  refused("GET *", line("GET * HTTP/1.1"), 404),
  refused("a target without a slash", line(`GET ${PATH.slice(1)} HTTP/1.1`)),
  refused("no target", line("GET  HTTP/1.1")),
  refused("CONNECT", request("CONNECT 127.0.0.1:1 HTTP/1.1", "host: 127.0.0.1:1") + SECOND, 500),
  { ...refused("no host: the next request counts", hosts() + SECOND), answers: [400, 200], reach: [GET_SECOND] },
  ...[
    ["two hosts", HOST, "host: evil.test"],
    ["the same host twice", HOST, HOST],
    ["an empty host", "host:"],
    ["a list of hosts", "host: gw.test, evil.test"],
    ["two words for a host", "host: gw.test evil.test"],
    ["two ports", "host: gw.test:80:80"],
    ["half an IPv6 address", "host: [::1"],
    ["an encoded dot", "host: gw%2etest"],
    ["a space before the colon of the host", "host : gw.test"],
    ["a host on a folded line", "host:\r\n gw.test"],
    ["NUL in the host", "host: gw.test\0.evil.test"],
  ].map(([name = "", ...fields]) => refused(name, hosts(...fields))),
  refused("encoded line ends in the ID", line(`GET ${PATH}%0d%0ahost:%20evil.test HTTP/1.1`)),
  refused("an encoded NUL in the ID", line(`GET ${PATH}%00 HTTP/1.1`)),
  passed(
    "encoded line ends behind the ID stay encoded",
    line(`GET ${PATH}/x%0d%0a%0d%0aGET%20/?%0d%0a HTTP/1.1`),
    `GET ${PATH}/x%0d%0a%0d%0aGET%20/?%0d%0a `,
  ),
];

/** Bodies where some expect none, and bodies that are left unread. */
const BODIES: readonly Attempt[] = [
  passed("a request as the body of GET", get(measured(SECOND)) + SECOND, GET + SECOND),
  passed(
    "a request as the body of DELETE",
    request(`DELETE ${PATH} HTTP/1.1`, HOST, measured(SECOND)) + SECOND,
    `DELETE ${PATH} ${SECOND}`,
  ),
  refused("a chunked body of GET, then a request", get(CHUNKED) + asChunk(SECOND)),
  passed(
    "an upgrade with a body",
    get("connection: upgrade", "upgrade: websocket", measured(SECOND)) + SECOND,
    GET + SECOND,
  ),
  passed(
    "an upgrade that is refused, then a request",
    get("connection: upgrade", "upgrade: websocket") + SECOND,
    GET,
    GET_SECOND,
  ),
  passed(
    "an upgrade to HTTP/2 with a body",
    `${post("connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABk", "content-length: 5")}hello${SECOND}`,
    POST_HELLO,
    GET_SECOND,
  ),
  ...[
    ["a path of nothing", "POST /nowhere HTTP/1.1", 404],
    ["a method that is refused", `TRACE ${PATH} HTTP/1.1`, 405],
    ["an ID that is none", "POST /parcel/none HTTP/1.1", 400],
    ["a page of the gateway's own", "GET /-/health HTTP/1.1", 200],
  ].map(([name, start, status]) => unread(`${name}`, `${start}`, Number(status), SECOND)),
  unread("a body that is too large", "POST /mint HTTP/1.1", 413, "x".repeat(10_000) + SECOND),
  passed("expectations of nothing", `${post("expect: 200-ok", "content-length: 5")}hello`, POST_HELLO),
  passed("an expectation that is met", `${post("expect: 100-continue", "content-length: 5")}hello`, POST_HELLO),
  passed("three requests in a row", get() + SECOND + get(), GET, GET_SECOND, GET),
  passed("nothing after connection: close", get("connection: close") + SECOND, GET),
];

/** A body that nobody reads is not the next request. */
function unread(name: string, start: string, status: number, body: string): Attempt {
  const bytes = request(start, HOST, measured(body)) + body + get();
  return { name: `an unread body: ${name}`, bytes, answers: [status, 200], reach: [GET] };
}

export const ATTEMPTS: readonly Attempt[] = [...CODINGS, ...LENGTHS, ...CHUNK_SIZES, ...HEADS, ...PLACES, ...BODIES];
