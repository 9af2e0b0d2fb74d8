import { generateKeyPairSync, sign } from "node:crypto";
import type { TlsOptions } from "node:tls";

/** A key and a certificate (RFC 5280) for it that nobody but itself vouches for, made anew for each run. */
export function ownCertificate(): TlsOptions {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(oid("550403"), der(0x0c, Buffer.from("hostile.test")))));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    name,
    sequence(time("250101000000Z"), time("491231235959Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(oid("551d11"), der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1]))))))),
  );
  const signature = sign("sha256", body, privateKey);
  const certificate = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }), cert: pem(certificate) };
}

/** Tag, length and contents (ITU-T X.690 §8.1). */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const { length } = Buffer.concat(contents);
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), ...contents]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const set = (...contents: readonly Buffer[]): Buffer => der(0x31, ...contents);
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const time = (text: string): Buffer => der(0x17, Buffer.from(text));
const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64")}\n-----END CERTIFICATE-----\n`;

const ECDSA_WITH_SHA256 = sequence(oid("2a8648ce3d040302"));
