import { type Expected, fault, impossible, lines, lost, ok, passed } from "./fault.ts";

const OK = ok("content-length: 2");
const passes = passed(200, "ok");

/** A good answer with one more line in its head. */
const field = (name: string, line: string, expected: Expected) =>
  fault(name, [ok("content-length: 2", line), "ok"], expected);
const status = (name: string, line: string, expected: Expected) =>
  fault(name, [lines(line, "content-length: 2"), "ok"], expected);

/** The origin's bytes are no answer, or no good one. */
export const HEAD_FAULTS = [
  fault("noise", ["\x80\x7f\x00\x01\xff\xfe".repeat(200), "close!"], lost),
  fault("nothing-but-nul", ["\0".repeat(1000), "close!"], lost),
  fault("another-protocol", ["220 mail.example.com ESMTP\r\n", { pauseMs: 50 }, "close!"], lost),
  fault("http-0-9", ["<html>hello</html>", "close!"], lost),
  fault("http-2-settings", ["\0\0\0\x04\0\0\0\0\0", { pauseMs: 50 }, "close!"], lost),
  fault("http-2-preface", ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "close!"], lost),
  fault("tls-alert-in-plain-text", ["\x15\x03\x03\x00\x02\x02\x46", "close!"], lost),
  fault("a-request-for-an-answer", ["GET / HTTP/1.1\r\nhost: x\r\n\r\n", "close!"], lost),
  status("status-line-without-version", "200 OK", lost),
  status("status-line-without-status", "HTTP/1.1", lost),
  status("status-in-words", "HTTP/1.1 OK", lost),
  status("status-of-two-digits", "HTTP/1.1 99 Low", lost),
  status("status-of-four-digits", "HTTP/1.1 2000 OK", lost),
  status("status-negative", "HTTP/1.1 -200 OK", lost),
  status("status-0", "HTTP/1.1 000 Zero", lost),
  status("status-600", "HTTP/1.1 600 High", impossible),
  status("status-999", "HTTP/1.1 999 Denied", impossible),
  fault("unasked-101", [lines("HTTP/1.1 101 Switching", "upgrade: websocket", "connection: upgrade")], impossible),
  status("version-in-lower-case", "http/1.1 200 OK", lost),
  status("version-3", "HTTP/3.0 200 OK", lost),
  fault("version-1-0", ["HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nok", "close!"], passes),
  status("status-without-reason", "HTTP/1.1 200", passes),
  status("reason-of-100-kb", `HTTP/1.1 200 ${"x".repeat(100_000)}`, passes),
  status("reason-of-1-mb", `HTTP/1.1 200 ${"x".repeat(1_000_000)}`, lost),
  status("reason-above-ascii", "HTTP/1.1 200 Caf\xe9 \xd0\xb6", passes),
  status("reason-with-control", "HTTP/1.1 200 O\x01K", lost),
  field("field-without-colon", "no colon here", lost),
  field("field-without-name", ": value", lost),
  field("field-with-space-before-colon", "x-a : b", lost),
  field("field-name-with-nul", "x-\0a: b", lost),
  field("field-value-with-nul", "x-a: b\0c", lost),
  field("field-value-with-bare-cr", "x-a: b\rx-b: c", lost),
  fault("folded-field", [ok("content-length: 2", "x-a: b", " c"), "ok"], lost),
  fault("folded-length", [lines("HTTP/1.1 200 OK", "content-length:", " 2"), "ok"], lost),
  fault("bare-lf", ["HTTP/1.1 200 OK\ncontent-length: 2\n\nok"], passes),
  field("octets-above-ascii", "x-a: caf\xe9 \xd0\xb6", passed(200, "ok", [["x-a", "caf\xe9 \xd0\xb6"]])),
  field("field-of-100-kb", `x-a: ${"x".repeat(100_000)}`, passed(200, "ok", [["x-a", "x".repeat(100_000)]])),
  field("field-of-1-mb", `x-a: ${"x".repeat(1_000_000)}`, lost),
  field("head-of-1-mb", Array.from({ length: 10_000 }, (_, i) => `x-${i}: ${"y".repeat(90)}`).join("\r\n"), lost),
  field("a-thousand-fields", Array.from({ length: 1000 }, (_, i) => `x-${i}: y`).join("\r\n"), passes),
  fault("head-without-end", [`HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(300_000)}`, "hang!"], lost),
  fault("interim-answers-50", ["HTTP/1.1 102 Processing\r\n\r\n".repeat(50), OK, "ok"], passes),
  fault("interim-answers-10000", ["HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000), OK, "ok"], passes),
  fault("early-hints", [lines("HTTP/1.1 103 Early Hints", "link: </x>; rel=preload"), OK, "ok"], passes),
];
