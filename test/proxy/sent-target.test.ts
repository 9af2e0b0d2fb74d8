import { describe, expect, it } from "vitest";
import { sentTarget } from "../../src/proxy/origin-request.ts";

describe("the target that an origin gets", () => {
  it.each([
    "/",
    "/orders/1",
    "/orders/1?",
    "/orders/1/?a=1&a=2&b=%2F&c=+&d=%zz",
    "/orders/1//x///%2e%2E%2fetc;v=1,2/%C3%A9/%e2",
    "/a:b@c!$&()*+,;=~?/orders/y",
  ])("is the text that was sent: %s", (target) => {
    for (const origin of ["http://o", "https://origin.test:8443", "http://[::1]:8080"]) {
      expect(sentTarget(origin + target)).toBe(target);
    }
  });

  it.each([
    [`/a"^{}b`, "/a%22%5E%7B%7Db"],
    [`/a'b?c='d'`, "/a'b?c=%27d%27"],
    ["/a?b=^{}|c'", "/a?b=^{}|c%27"],
    ["/a#b", "/a"],
    ["/caf\u00e9?q=caf\u00e9", "/caf%C3%A9?q=caf%C3%A9"],
    ["/\u4e2d\u{1f600}\u0080", "/%E4%B8%AD%F0%9F%98%80%C2%80"],
    ["/a?#b", "/a?"],
    ["/a%27?b%22#", "/a%27?b%22"],
  ])("is for %s what `fetch` makes of it", (target, sent) =>
    expect(sentTarget(`http://o/base${target}`)).toBe(`/base${sent}`),
  );

  it("changes no more when it is taken again", () => {
    const once = sentTarget(`http://o/a"^{}'b?c="'{}#d`);
    expect(sentTarget(`http://o${once}`)).toBe(once);
  });
});
