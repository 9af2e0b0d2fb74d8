import { gzipSync } from "node:zlib";
import { broken, drip, fault, HASTY, incomplete, late, ok, passed } from "./fault.ts";

const LENGTH = ok("content-length: 10");
const CHUNKED = ok("transfer-encoding: chunked");
const GZIP = gzipSync("hello hello hello").toString("latin1");
const wait = { pauseMs: 50 };
const silent = { region: HASTY };

/** An answer to HEAD has no body to break. */
const BODIED = { methods: ["GET", "POST"] } as const;

/** The head is good; the body breaks off, stands still, is too long or is not what it says. */
export const BODY_FAULTS = [
  fault("closed-after-head", [LENGTH, wait, "close!"], incomplete, BODIED),
  fault("reset-after-head", [LENGTH, wait, "reset!"], incomplete, BODIED),
  fault("closed-in-body", [LENGTH, "hello", wait, "close!"], incomplete, BODIED),
  fault("reset-in-body", [LENGTH, "hello", wait, "reset!"], incomplete, BODIED),
  fault("one-octet-short", [LENGTH, "hellohell", wait, "close!"], incomplete, BODIED),
  fault(
    "closed-in-body-of-1-mb",
    [ok("content-length: 1000000"), "x".repeat(999_999), wait, "close!"],
    broken("x".repeat(999_999)),
  ),
  fault("closed-in-chunk", [CHUNKED, "a\r\nhello", wait, "close!"], broken("hello")),
  fault("reset-in-chunk", [CHUNKED, "a\r\nhello", wait, "reset!"], broken("hello")),
  fault("closed-in-chunk-size", [CHUNKED, "5\r\nhello\r\n1", wait, "close!"], broken("hello")),
  fault("closed-between-chunks", [CHUNKED, "5\r\nhello\r\n", wait, "close!"], broken("hello")),
  fault("reset-between-chunks", [CHUNKED, "5\r\nhello\r\n", wait, "reset!"], broken("hello")),
  fault("closed-before-first-chunk", [CHUNKED, wait, "close!"], broken("")),
  fault("closed-in-last-chunk", [CHUNKED, "5\r\nhello\r\n0\r\n", wait, "close!"], broken("hello")),
  fault("closed-after-body", [LENGTH, "hellohello", "close!"], passed(200, "hellohello")),
  fault("reset-after-body", [LENGTH, "hellohello", wait, "reset!"], passed(200, "hellohello")),
  fault("closed-after-chunks", [CHUNKED, "5\r\nhello\r\n0\r\n\r\n", "close!"], passed(200, "hello")),

  fault("silent-after-head", [LENGTH, "hang!"], late, { ...silent, ...BODIED }),
  fault("silent-in-body", [LENGTH, "hello", "hang!"], late, { ...silent, ...BODIED }),
  fault("silent-in-chunk", [CHUNKED, "a\r\nhello", "hang!"], broken("hello", "idle"), silent),
  fault("silent-between-chunks", [CHUNKED, "5\r\nhello\r\n", "hang!"], broken("hello", "idle"), silent),
  fault("silent-before-last-chunk", [CHUNKED, "5\r\nhello\r\n0\r\n", "hang!"], broken("hello", "idle"), silent),
  fault("silent-without-length", [ok(), "hello", "hang!"], broken("hello", "idle"), silent),
  fault("body-drips", [LENGTH, ...drip("hellohello", 30)], passed(200, "hellohello")),
  fault("chunks-drip", [CHUNKED, ...drip("5\r\nhello\r\n0\r\n\r\n", 20)], passed(200, "hello")),
  fault("body-drips-for-ever", [ok("content-length: 1000"), ...drip("x".repeat(100), 50)], late, {
    region: { deadlines: { totalMs: 1000 } },
    ...BODIED,
  }),

  fault(
    "chunks-drip-for-ever",
    [CHUNKED, ...Array.from({ length: 100 }, () => ["1\r\nx\r\n", { pauseMs: 50 }]).flat()],
    broken("x".repeat(100), "late"),
    { region: { deadlines: { totalMs: 1000 } } },
  ),

  fault("body-too-long", [LENGTH, "hellohello and more", wait, "close!"], passed(200, "hellohello")),
  fault("body-of-204", ["HTTP/1.1 204 No Content\r\n\r\nhello", wait, "close!"], passed(204, "")),
  fault(
    "length-of-204",
    ["HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello", wait, "close!"],
    passed(204, ""),
  ),
  fault(
    "chunks-of-204",
    ["HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", wait, "close!"],
    passed(204, ""),
  ),
  fault(
    "body-of-304",
    ['HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\nhello', wait, "close!"],
    passed(304, "", [["etag", '"a"']]),
  ),
  fault("length-of-304", ["HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", wait, "close!"], passed(304, "")),
  fault(
    "body-of-205",
    ["HTTP/1.1 205 Reset Content\r\ncontent-length: 5\r\n\r\nhello", wait, "close!"],
    passed(205, ""),
  ),
  fault("body-of-head", [LENGTH, "hellohello", wait, "close!"], passed(200, ""), { methods: ["HEAD"] }),
  fault("chunks-of-head", [CHUNKED, "5\r\nhello\r\n0\r\n\r\n", wait, "close!"], passed(200, ""), { methods: ["HEAD"] }),

  fault(
    "gzip-that-is-none",
    [ok("content-encoding: gzip", "content-length: 10"), "hellohello"],
    passed(200, "hellohello", [["content-encoding", "gzip"]]),
  ),
  fault(
    "gzip-that-is-none-chunked",
    [ok("content-encoding: gzip", "transfer-encoding: chunked"), "5\r\nhello\r\n0\r\n\r\n"],
    passed(200, "hello"),
  ),
  fault(
    "gzip-cut-before-sent",
    [ok("content-encoding: gzip", `content-length: ${GZIP.length - 8}`), GZIP.slice(0, -8)],
    passed(200, GZIP.slice(0, -8)),
  ),
  fault(
    "gzip-cut-on-its-way",
    [ok("content-encoding: gzip", `content-length: ${GZIP.length}`), GZIP.slice(0, -8), wait, "close!"],
    incomplete,
    BODIED,
  ),
  fault("gzip", [ok("content-encoding: gzip", `content-length: ${GZIP.length}`), GZIP], passed(200, GZIP)),
  fault(
    "coding-that-nobody-knows",
    [ok("content-encoding: squeeze", "content-length: 5"), "hello"],
    passed(200, "hello", [["content-encoding", "squeeze"]]),
  ),
];
