import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { messageOf, signedHeaders } from "../../src/edge/events/standard-webhook.ts";
import type { LogEvent } from "../../src/formats/console-api.ts";
import { installLibraries } from "./install.ts";

/** Messages of events, as the library of the specification's authors verifies them. */

interface Library {
  readonly Webhook: new (
    secret: string,
  ) => { verify(body: string, headers: Readonly<Record<string, string>>): unknown };
}

const { Webhook } = createRequire(join(installLibraries(), "drivers", "run.mjs"))("standardwebhooks") as Library;

const EVENT: LogEvent = {
  id: 42,
  time: "2026-11-23T00:00:00.000Z",
  kind: "publication",
  type: "publication.published",
  words: "jane published revision 42: “Länder” → eu",
  evidence: { author: "jane" },
  revision: 42,
};

const secretOf = (bytes: number, fill: number) => `whsec_${Buffer.alloc(bytes, fill).toString("base64")}`;

it.each([24, 25, 26, 32, 63, 64])("are verified with a secret of %i bytes, also beside another one", async (bytes) => {
  const secret = secretOf(bytes, 255);
  const body = messageOf(EVENT, { gateway: "eu-edge", environment: "production" });
  const options = { subtle: crypto.subtle, nowMs: Date.now() };
  const headers = await signedHeaders("msg_a_42", body, [secretOf(32, 1), secret], options);
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secretOf(bytes, 2)).verify(body, headers)).toThrow();
  const old = await signedHeaders("msg_a_42", body, [secret], { ...options, nowMs: Date.now() - 3_600_000 });
  expect(() => new Webhook(secret).verify(body, old)).toThrow();
});
