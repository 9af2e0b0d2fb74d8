import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSignature, parseSignature, type Seal, type Signable, signedText } from "../../src/proxy/signature.ts";
import { runs } from "../setup/property-runs.ts";

const REQUEST: Signable = {
  method: "GET",
  target: "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/events?limit=20",
  id: "0192f0c1-7a30-8005-8040-8f3b2a1c9d77",
  region: "ap",
  revision: 41,
  epoch: 0,
  clientAddress: "2001:db8::7",
};
const SEAL: Seal = { keyId: "2026a", seconds: 1_790_000_000 };

describe("the signed text", () => {
  it("has a line for each part", () => {
    expect(signedText(REQUEST, SEAL)).toBe(
      [
        "waybill-signature v1",
        "2026a",
        "1790000000",
        "GET",
        "/orders/0192f0c1-7a30-8005-8040-8f3b2a1c9d77/events?limit=20",
        "0192f0c1-7a30-8005-8040-8f3b2a1c9d77",
        "ap",
        "41",
        "0",
        "2001:db8::7",
      ].join("\n"),
    );
  });

  it("is the same for no two different requests, whatever they hold", () => {
    // Line feeds and digits are what could make one part look like the end of another.
    const text = fc.string({ unit: fc.constantFrom(..."aaaa111000/:;\n"), maxLength: 2 });
    const odd = fc.constantFrom(" ", "é", "\r", "\n\n", "\u2028", "\ud800", "\0");
    const part = fc.oneof({ weight: 20, arbitrary: text }, { weight: 1, arbitrary: odd });
    const oddCount = fc.constantFrom(-1, 0.5, Number.NaN, 1e21);
    const count = fc.oneof({ weight: 20, arbitrary: fc.nat({ max: 20 }) }, { weight: 1, arbitrary: oddCount });
    const request = fc.record({
      what: fc.record({
        method: part,
        target: part,
        id: part,
        region: part,
        revision: count,
        epoch: count,
        clientAddress: part,
      }),
      seal: fc.record({ keyId: part, seconds: count }),
    });
    const seen = new Map<string, string>();
    let accepted = 0;
    fc.assert(
      fc.property(request, ({ what, seal }) => {
        const signed = signedText(what, seal);
        if (signed === undefined) return;
        accepted++;
        const parts = JSON.stringify([what, seal]);
        expect(seen.get(signed) ?? parts).toBe(parts);
        seen.set(signed, parts);
        // The parts can be told again from the text alone.
        const [, keyId, seconds, method, target, id, region, revision, epoch, clientAddress, ...rest] =
          signed.split("\n");
        expect({ keyId, seconds: Number(seconds) }).toEqual(seal);
        expect({
          method,
          target,
          id,
          region,
          revision: Number(revision),
          epoch: Number(epoch),
          clientAddress,
        }).toEqual(what);
        expect(rest).toEqual([]);
      }),
      { numRuns: runs(2_000) },
    );
    expect(accepted).toBeGreaterThan(runs(500));
  });

  it.each([
    { id: "a\nb" },
    { target: "/a b" },
    { clientAddress: "\r" },
    { region: "é" },
    { revision: -1 },
    { epoch: 1.5 },
    { revision: Number.NaN },
  ])("there is none for %j", (part) => {
    expect(signedText({ ...REQUEST, ...part }, SEAL)).toBeUndefined();
  });
});

describe("the field", () => {
  const mac = "nE1yKGLX9fGvPz0oZ3Cqv1dMeq2mY8WbJtTg5rXKQ0Q";
  const field = { ...SEAL, clientAddress: "203.0.113.9", mac };

  it("is read as it was written", () => {
    expect(formatSignature(field)).toBe(`v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}`);
    for (const clientAddress of ["203.0.113.9", "2001:db8::7", "unknown"]) {
      expect(parseSignature(formatSignature({ ...field, clientAddress }))).toEqual({ ...field, clientAddress });
    }
  });

  it.each([
    "",
    `v2;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}`,
    ` v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}`,
    `v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}\n`,
    `v1; k=2026a;t=1790000000;a=203.0.113.9;s=${mac}`,
    `v1;k=;t=1790000000;a=203.0.113.9;s=${mac}`,
    `v1;k=2026a;t=01790000000;a=203.0.113.9;s=${mac}`,
    `v1;k=2026a;t=-1;a=203.0.113.9;s=${mac}`,
    `v1;k=2026a;t=1790000000;a=localhost;s=${mac}`,
    `v1;k=2026a;t=1790000000;s=${mac}`,
    `v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}=`,
    `v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac.slice(0, 42)}`,
    // The same bytes in another text.
    `v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac.slice(0, 42)}R`,
    `v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}, v1;k=2026a;t=1790000000;a=203.0.113.9;s=${mac}`,
  ])("is refused when it is %j", (value) => expect(parseSignature(value)).toBeUndefined());
});
