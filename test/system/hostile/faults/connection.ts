import { ownCertificate } from "../certificate.ts";
import { drip, fault, HASTY, late, lost, nameless, ok, passed, untrusted } from "./fault.ts";

const HEAD = ok("content-length: 2");
const silent = { region: HASTY };
const deaf = { region: HASTY, behaviour: { after: "connection", isDeaf: true }, seen: [0, 0] } as const;
const atOnce = {
  behaviour: { after: "connection" },
  seen: [
    [0, 2],
    [0, 1],
  ],
} as const;

/** A resolver that nobody answers gives up after seconds, and a read looks the name up twice. */
const NAME_MS = 25_000;
const leadsNowhere = { region: { deadlines: { firstByteMs: NAME_MS } }, withinMs: 2 * NAME_MS, seen: [0, 0] } as const;

/** The origin has no TLS, whatever its address says. */
const byTls = {
  url: (port: number) => `https://127.0.0.1:${port}`,
  behaviour: { after: "connection" },
  seen: [0, 0],
} as const;

/** The connection fails, or nothing comes, before there is an answer. */
export const CONNECTION_FAULTS = [
  fault("closed-at-once", ["close!"], lost, atOnce),
  fault("reset-at-once", ["reset!"], lost, atOnce),
  fault("closed-before-head", ["close!"], lost),
  fault("reset-before-head", ["reset!"], lost),
  fault("closed-in-status-line", ["HTTP/1.1 20", "close!"], lost),
  fault("reset-in-status-line", ["HTTP/1.1 20", "reset!"], lost),
  fault("closed-after-status-line", ["HTTP/1.1 200 OK\r\n", "close!"], lost),
  fault("closed-in-field-name", ["HTTP/1.1 200 OK\r\ncontent-le", "close!"], lost),
  fault("closed-in-field-value", ["HTTP/1.1 200 OK\r\ncontent-type: text/pl", "close!"], lost),
  fault("reset-in-field-value", ["HTTP/1.1 200 OK\r\ncontent-type: text/pl", "reset!"], lost),
  fault("closed-before-blank-line", ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n", "close!"], lost),
  fault("closed-in-interim-answer", ["HTTP/1.1 102 Processing\r\n\r\n", "close!"], lost),
  fault("silent-before-request", ["hang!"], late, deaf),
  fault("silent-before-head", ["hang!"], late, silent),
  fault("silent-in-status-line", ["HTTP/1.", "hang!"], late, silent),
  fault("silent-in-head", ["HTTP/1.1 200 OK\r\ncontent-ty", "hang!"], late, silent),
  fault("silent-after-interim-answer", ["HTTP/1.1 100 Continue\r\n\r\n", "hang!"], late, silent),
  fault("head-drips-too-slowly", drip(HEAD, 100), late, silent),
  fault(
    "interim-answers-for-ever",
    Array.from({ length: 60 }, () => ["HTTP/1.1 102 Processing\r\n\r\n", { pauseMs: 50 }]).flat(),
    late,
    silent,
  ),
  fault("head-drips", [...drip(HEAD, 10), "ok"], passed(200, "ok")),
  fault("head-octet-by-octet-then-reset", [...drip("HTTP/1.1 200 OK\r\ncon", 10), "reset!"], lost),

  fault("refused", [], lost, { url: () => "http://127.0.0.1:1", seen: [0, 0] }),
  fault("name-that-leads-nowhere", [], nameless, { ...leadsNowhere, url: () => "http://nowhere.invalid" }),
  fault("name-that-leads-nowhere-by-tls", [], untrusted, { ...leadsNowhere, url: () => "https://nowhere.invalid" }),
  fault("plain-text-where-tls", [HEAD, "ok", "close!"], untrusted, byTls),
  fault("closed-in-tls-handshake", ["close!"], untrusted, byTls),
  fault("reset-in-tls-handshake", [{ pauseMs: 50 }, "reset!"], untrusted, byTls),
  fault("noise-in-tls-handshake", ["\x16\x03\x03\x00\x05noise", "close!"], untrusted, byTls),
  fault("silent-in-tls-handshake", ["hang!"], late, { ...byTls, region: HASTY }),
  fault("certificate-of-its-own", [HEAD, "ok"], untrusted, { behaviour: { tls: ownCertificate() }, seen: [0, 0] }),
];
