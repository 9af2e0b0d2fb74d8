import { describe, expect, it } from "vitest";
import { clientNetwork } from "../../src/proxy/addresses/client-network.ts";

describe("what stands for one client", () => {
  it.each([
    ["203.0.113.9", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8:1:2:ffff::9", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::9", "2001:db8:1:3::/64"],
    ["2001:db8::9", "2001:db8:0:0::/64"],
    ["2001:db8::1:2:3:4:5", "2001:db8:0:1::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["64:ff9b::203.0.113.9", "64:ff9b:0:0::/64"],
    // The addresses of IPv4 clients begin with the same 64 bits.
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::FFFF:cb00:7109", "203.0.113.9"],
    ["0:0:0:0:0:ffff:203.0.113.9", "203.0.113.9"],
  ])("is, for %s, %s", (address, network) => expect(clientNetwork(address)).toBe(network));

  it.each(["1:2:3", "1:2:3:4:5:6:7:8:9", "::1::2", "1:2:3:4::5:6:7:8", "1:2:3:4:5:6:7:12345", ":", "a:.:b"])(
    "is the text itself for %s, which is no address",
    (text) => expect(clientNetwork(text)).toBe(text),
  );
});
