import { createHmac } from "node:crypto";

/** Signs requests with node:crypto, as docs/guides/origins.md describes. It uses no code under test. */
export interface Parts {
  readonly method: string;
  readonly target: string;
  readonly id: string;
  readonly region: string;
  readonly revision: number;
  readonly epoch: number;
  readonly address: string;
  readonly keyId: string;
  readonly seconds: number;
}

export const NOW_MS = 1_790_000_000_000;

export const PARTS: Parts = {
  method: "PUT",
  target: "/orders/1?a=%2F",
  id: "1",
  region: "eu",
  revision: 41,
  epoch: 0,
  address: "203.0.113.9",
  keyId: "2026a",
  seconds: NOW_MS / 1000,
};

export const KEY = { id: "2026a", key: Buffer.from("a key of thirty-two octets, test").toString("base64") };

export function signatureOf(parts: Parts, key = KEY.key): string {
  const { method, target, id, region, revision, epoch, address, keyId, seconds } = parts;
  const lines = ["waybill-signature v1", keyId, seconds, method, target, id, region, revision, epoch, address];
  const mac = createHmac("sha256", Buffer.from(key, "base64")).update(lines.join("\n")).digest("base64url");
  return `v1;k=${keyId};t=${seconds};a=${address};s=${mac}`;
}

/** The headers of a request from the gateway. */
export function headersOf(parts: Parts): Record<string, string> {
  return {
    "waybill-signature": signatureOf(parts),
    "waybill-region": parts.region,
    "waybill-revision": String(parts.revision),
    ...(parts.id === "" ? {} : { "waybill-entity-id": parts.id }),
    ...(parts.epoch === 0 ? {} : { "waybill-epoch": String(parts.epoch) }),
  };
}

export const nodeRequest = (changes: Partial<Parts> = {}) => {
  const parts = { ...PARTS, ...changes };
  return { method: parts.method, url: parts.target, headers: headersOf(parts) };
};
