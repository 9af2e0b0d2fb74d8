import { astray, fault, lines, passed, unkept } from "./fault.ts";

const METADATA = "http://169.254.169.254/latest/meta-data/";

/** The only region without a fault. */
export const CALM = fault("calm", [lines("HTTP/1.1 200 OK", "content-length: 4"), "calm"], passed(200, "calm"));

const elsewhere = (region: string) =>
  lines("HTTP/1.1 421 Misdirected Request", `waybill-region: ${region}`, "content-length: 0");

/** Answers that are well-formed and tempt an intermediary to do something. */
export const STATUS_FAULTS = [
  fault(
    "redirect-to-itself",
    [(request) => lines("HTTP/1.1 302 Found", `location: ${request.startLine.split(" ")[1]}`, "content-length: 0")],
    passed(302, ""),
  ),
  fault(
    "redirect-to-metadata",
    [lines("HTTP/1.1 307 Temporary Redirect", `location: ${METADATA}`, "content-length: 0")],
    passed(307, "", [["location", METADATA]]),
  ),
  fault(
    "redirect-permanently",
    [lines("HTTP/1.1 308 Permanent Redirect", "location: //127.0.0.1:1/", "content-length: 0")],
    passed(308, "", [["location", "//127.0.0.1:1/"]]),
  ),
  fault("redirect-without-location", [lines("HTTP/1.1 301 Moved", "content-length: 0")], passed(301, "")),
  fault(
    "authentication-asked",
    [
      lines(
        "HTTP/1.1 401 Unauthorized",
        'www-authenticate: Basic realm="x"',
        'proxy-authenticate: Basic realm="p"',
        "content-length: 2",
      ),
      "no",
    ],
    passed(401, "no", [["www-authenticate", 'Basic realm="x"']]),
  ),
  fault(
    "proxy-authentication-asked",
    [lines("HTTP/1.1 407 Proxy Authentication Required", "proxy-authenticate: Basic", "content-length: 0")],
    passed(407, ""),
  ),
  fault(
    "cookies",
    [
      lines(
        "HTTP/1.1 200 OK",
        "set-cookie: a=1",
        "set-cookie: b=2; expires=Wed, 01 Jan 2031 00:00:00 GMT",
        "set-cookie: a=1",
        "content-length: 2",
      ),
      "ok",
    ],
    passed(200, "ok", [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2; expires=Wed, 01 Jan 2031 00:00:00 GMT"],
      ["set-cookie", "a=1"],
    ]),
  ),
  fault(
    "fields-of-the-connection",
    [
      lines(
        "HTTP/1.1 200 OK",
        "connection: x-of-the-connection",
        "x-of-the-connection: 1",
        "keep-alive: timeout=5",
        "proxy-connection: keep-alive",
        "content-length: 2",
      ),
      "ok",
    ],
    passed(200, "ok"),
  ),
  fault(
    "connection-names-what-it-must-not",
    [
      lines(
        "HTTP/1.1 200 OK",
        "connection: set-cookie, etag, content-length",
        "set-cookie: a=1",
        'etag: "a"',
        "content-length: 2",
      ),
      "ok",
    ],
    passed(200, "ok", [
      ["set-cookie", "a=1"],
      ["etag", '"a"'],
      ["content-length", "2"],
    ]),
  ),
  fault(
    "forged-fields",
    [lines("HTTP/1.1 200 OK", "waybill-region: atlantis", "waybill-layout: forged", "content-length: 2"), "ok"],
    passed(200, "ok", [["waybill-region", "forged-fields"]]),
  ),
  fault("own-failure", [lines("HTTP/1.1 500 Broken", "content-length: 4"), "oops"], passed(500, "oops")),
  fault(
    "busy",
    [lines("HTTP/1.1 503 Busy", "retry-after: 7", "content-length: 0")],
    passed(503, "", [["retry-after", "7"]]),
  ),
  fault("misdirected", [lines("HTTP/1.1 421 Misdirected Request", "content-length: 4"), "away"], passed(421, "away")),
  fault("misdirected-to-calm", [elsewhere("calm")], passed(200, "calm"), { methods: ["GET"], countedFor: CALM.name }),
  fault("misdirected-upload", [elsewhere("calm")], unkept, { methods: ["POST"] }),
  fault("misdirected-to-itself", [elsewhere("misdirected-to-itself")], astray, { methods: ["GET"] }),
  fault("misdirected-to-nowhere", [elsewhere("atlantis")], astray, { methods: ["GET"] }),
  fault("misdirected-there", [elsewhere("misdirected-back")], astray, { methods: ["GET"] }),
  fault("misdirected-back", [elsewhere("misdirected-there")], astray, { methods: ["GET"] }),
  fault("teapot", [lines("HTTP/1.1 418 Teapot", "content-length: 0")], passed(418, "")),
];
