import { hmacSigner } from "../../src/edge/origins/signer.ts";
import { verifyRequest } from "../../src/origin/index.ts";
import type { Signable } from "../../src/proxy/signature.ts";
import type { Candidate } from "../lib/sample.ts";

const KEY = { id: "2026a", key: new Uint8Array(32).fill(1) };
const REQUEST: Signable = {
  method: "GET",
  target: "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/events?limit=20",
  id: "0192f0c1-7a30-8005-8040-8f3b2a1c9d77",
  region: "ap",
  revision: 41,
  epoch: 0,
  clientAddress: "203.0.113.9",
};
const TEXT_BYTES = 180;
const NOW_MS = 1_790_000_000_000;
const HMAC = "HMAC-SHA-256 alone";

/** Signing in the gateway and verifying at an origin, sequentially. */
export async function signatureCandidates(): Promise<readonly Candidate[]> {
  const { subtle } = crypto;
  const sign = hmacSigner([KEY], subtle, { nowMs: () => NOW_MS });
  if (sign === undefined) throw new Error("no signer was created");
  const key = await subtle.importKey("raw", KEY.key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const text = new Uint8Array(TEXT_BYTES).fill(65);
  const headers = new Map([
    ["waybill-signature", await sign(REQUEST)],
    ["waybill-entity-id", REQUEST.id],
    ["waybill-region", REQUEST.region],
    ["waybill-revision", "41"],
  ]);
  const headerGetter = { get: (name: string) => headers.get(name) ?? null };
  const signed = { method: "GET", url: `https://ap.test${REQUEST.target}`, headers: headerGetter };
  const options = { keys: [KEY], now: () => NOW_MS };
  if (!(await verifyRequest(signed, options)).ok) throw new Error("a signature does not verify");
  return [
    { name: HMAC, run: times(async () => (await subtle.sign("HMAC", key, text)).byteLength) },
    { name: "sign a request", against: HMAC, run: times(async () => (await sign(REQUEST)).length) },
    {
      name: "verify a request",
      against: HMAC,
      run: times(async () => Number((await verifyRequest(signed, options)).ok)),
    },
  ];
}

const times = (step: () => Promise<number>) => async (count: number) => {
  let sum = 0;
  for (let done = 0; done < count; done++) sum += await step();
  return sum;
};
