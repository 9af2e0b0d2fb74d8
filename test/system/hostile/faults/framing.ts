import { broken, type Expected, fault, impossible, lost, ok, passed } from "./fault.ts";

/** A length that says something else than a number of bytes, before the body "hello". */
const length = (name: string, fields: readonly string[], expected: Expected) =>
  fault(name, [ok(...fields), "hello", "close!"], expected);

/** A chunked body as it stands on the wire. */
const chunked = (name: string, body: string, expected: Expected) =>
  fault(name, [ok("transfer-encoding: chunked"), body, "close!"], expected);

const CHUNKS = "5\r\nhello\r\n0\r\n\r\n";
const hello = passed(200, "hello");

/** Where the body ends is said wrongly, twice, or not at all (RFC 9112 §6). */
export const FRAMING_FAULTS = [
  length("length-negative", ["content-length: -5"], lost),
  length("length-in-words", ["content-length: five"], lost),
  length("length-in-hex", ["content-length: 0x5"], lost),
  length("length-with-plus", ["content-length: +5"], lost),
  length("length-empty", ["content-length:"], lost),
  length("length-fraction", ["content-length: 5.0"], lost),
  length("length-beyond-64-bits", ["content-length: 99999999999999999999"], lost),
  length("length-list-of-two", ["content-length: 5, 6"], lost),
  length("length-twice-different", ["content-length: 5", "content-length: 3"], lost),
  length("length-list-of-the-same", ["content-length: 5, 5"], hello),
  length("length-twice-the-same", ["content-length: 5", "content-length: 5"], hello),
  length("no-length", [], hello),
  fault("no-length-then-reset", [ok(), "hello", { pauseMs: 50 }, "reset!"], broken("hello")),

  length("coding-unknown", ["transfer-encoding: bogus"], impossible),
  length("coding-identity", ["transfer-encoding: identity"], impossible),
  length("coding-chunked-not-last", ["transfer-encoding: chunked, gzip"], impossible),
  fault("length-and-chunks", [ok("content-length: 3", "transfer-encoding: chunked"), CHUNKS], impossible),
  fault("length-and-chunks-other-order", [ok("transfer-encoding: chunked", "content-length: 5"), CHUNKS], impossible),
  fault("coding-twice", [ok("transfer-encoding: chunked", "transfer-encoding: chunked"), CHUNKS], impossible),
  fault("coding-in-capitals", [ok("transfer-encoding: CHUNKED"), CHUNKS], hello),
  chunked("chunks", "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", hello),
  chunked("chunk-extensions", '3;a=b;c="d\\"e"\r\nhel\r\n2 ;x\r\nlo\r\n0;y\r\n\r\n', hello),
  chunked("trailer", "5\r\nhello\r\n0\r\nx-a: b\r\n\r\n", hello),
  chunked("chunk-negative", "5\r\nhello\r\n-1\r\nx\r\n0\r\n\r\n", broken("hello")),
  chunked("chunk-no-number", "5\r\nhello\r\nzz\r\nx\r\n0\r\n\r\n", broken("hello")),
  chunked("chunk-with-0x", "5\r\nhello\r\n0x1\r\nx\r\n0\r\n\r\n", broken("hello")),
  chunked("chunk-empty-size", "5\r\nhello\r\n\r\nx\r\n0\r\n\r\n", broken("hello")),
  chunked("chunk-beyond-64-bits", "5\r\nhello\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n", broken("hellox\r\n0\r\n\r\n")),
  chunked("chunk-wraps-to-5", "10000000000000005\r\nhello\r\n0\r\n\r\n", broken("hello\r\n0\r\n\r\n")),
  chunked("chunk-of-2-gb", "7fffffff\r\nhello\r\n0\r\n\r\n", broken("hello\r\n0\r\n\r\n")),
  chunked("chunk-longer-than-said", "3\r\nhello\r\n0\r\n\r\n", broken("hel")),
  chunked("chunk-shorter-than-said", "6\r\nhello\r\n0\r\n\r\n", broken("hello\r0\r\n\r\n")),
  chunked("chunk-without-crlf", "5\r\nhello0\r\n\r\n", broken("hello")),
  chunked("chunked-but-plain", "hello", broken("")),
];
