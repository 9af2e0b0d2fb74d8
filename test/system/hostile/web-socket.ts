import { createHash } from "node:crypto";
import { fieldOf, type Message } from "./message.ts";

/** The server's part of the handshake (RFC 6455 §4.2.2), with more or other fields. */
export const switching = (request: Message, accept = acceptOf(request)): string =>
  [
    "HTTP/1.1 101 Switching Protocols",
    "upgrade: websocket",
    "connection: upgrade",
    `sec-websocket-accept: ${accept}`,
    "",
    "",
  ].join("\r\n");

const acceptOf = (request: Message): string =>
  createHash("sha1")
    .update(`${fieldOf(request, "sec-websocket-key")}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");

/** A client's handshake (RFC 6455 §4.1). */
export const handshake = (path: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    "host: gw.test",
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    "",
    "",
  ].join("\r\n");

export const OPCODE = { text: 1, close: 8 } as const;

/** An unmasked frame of fewer than 126 bytes, as servers send them (RFC 6455 §5.2). */
export const frame = (opcode: number, payload: string): string =>
  String.fromCharCode(0x80 | opcode, payload.length) + payload;

/** A masked one, as clients do. */
export const maskedFrame = (opcode: number, payload: string): string =>
  `${String.fromCharCode(0x80 | opcode, 0x80 | payload.length)}\0\0\0\0${payload}`;

export const closeFrame = (code: number): string => frame(OPCODE.close, String.fromCharCode(code >> 8, code & 0xff));
