import { base64 } from "@scure/base";
import type { LogEvent } from "../../formats/console-api.ts";

/** A message by the specification of Standard Webhooks (standardwebhooks.com). */

/** Names by which receivers tell one gateway from another. */
export interface Sender {
  readonly gateway: string;
  readonly environment: string | undefined;
}

export function messageOf({ type, time, ...event }: LogEvent, { gateway, environment }: Sender): string {
  return JSON.stringify({ type, timestamp: time, data: { ...event, gateway, environment: environment ?? null } });
}

/** Secrets are checked as settings: each is `whsec_` and base64. */
export async function signedHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  { subtle, nowMs }: { readonly subtle: SubtleCrypto; readonly nowMs: number },
): Promise<Readonly<Record<string, string>>> {
  const encoder = new TextEncoder();
  const timestamp = String(Math.floor(nowMs / 1000));
  const signed = encoder.encode(`${id}.${timestamp}.${body}`);
  const signatures = secrets.map(async (secret) => {
    const bytes = Uint8Array.from(atob(secret.slice(secret.indexOf("_") + 1)), (character) => character.charCodeAt(0));
    const key = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return `v1,${base64.encode(new Uint8Array(await subtle.sign("HMAC", key, signed)))}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": "Waybill",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": (await Promise.all(signatures)).join(" "),
  };
}
