import { describe, expect, it } from "vitest";
import {
  fieldRules,
  isDropped,
  METHOD_OVERRIDE_FIELDS,
  namedByConnection,
  STOPPED_FIELDS,
} from "../../src/proxy/headers.ts";

const { stopped } = fieldRules();

describe("names that connection adds to the hop-by-hop fields (RFC 9110 §7.6.1)", () => {
  it.each([
    ["keep-alive", []],
    ["close", []],
    ["x-hop", ["x-hop"]],
    ["Keep-Alive, X-Hop , x-other", ["x-hop", "x-other"]],
    [" , ,x-a,, ", ["x-a"]],
  ])("%j names %j", (value, names) => expect(namedByConnection(value)).toEqual(names));

  it.each([
    "authorization",
    "Cookie",
    "host",
    "content-length",
    "cdn-loop",
    "via",
    "X-Forwarded-For",
    "forwarded",
    "idempotency-key",
    "traceparent",
  ])("%s cannot be named away", (name) => expect(namedByConnection(`close, ${name}`)).toEqual([]));

  it.each(["x y", "x:y", "x\u0000", "é", "x".repeat(129), "(x)"])("%j is no field name and is left alone", (value) =>
    expect(namedByConnection(value)).toEqual([]),
  );

  it("reads a bounded number of names", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `x-${index}`).join(",");
    expect(namedByConnection(many)).toHaveLength(4096);
  });
});

describe("fields of a client's request that stop at the gateway", () => {
  it.each([
    "waybill-region",
    "waybill-anything",
    "waybill_entity_id",
    "waybill.region",
    "x-forwarded-for",
    "x_forwarded_for",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-real-ip",
    "true_client_ip",
    "cf-connecting-ip",
    "cf-ipcountry",
    "forwarded",
    "te",
    "proxy-authorization",
    "__proto__",
    ...STOPPED_FIELDS,
    ...METHOD_OVERRIDE_FIELDS,
  ])("%s", (name) => expect(isDropped(name, stopped)).toBe(true));

  it("a method of another request is passed where the deployment says so", () => {
    expect(isDropped("x-http-method-override", fieldRules({ passesOverride: true }).stopped)).toBe(false);
  });

  it.each(["authorization", "cookie", "x-own", "x_own", "x-forward", "cf-ray", "waybills", "_", "constructor"])(
    "not %s",
    (name) => expect(isDropped(name, stopped)).toBe(false),
  );
});
