import type { AlphabetText } from "../../../src/ids/index.ts";

/** Published texts of IDs, each with its bits in hexadecimal; and texts that their libraries refuse. */
export interface AlphabetVectors {
  readonly name: string;
  readonly source: string;
  readonly bits: number;
  readonly text: AlphabetText;
  readonly valid: readonly (readonly [text: string, hex: string])[];
  readonly invalid: readonly string[];
}

const bare = (uuid: string): string => uuid.replaceAll("-", "");

export const ALPHABET_VECTORS: readonly AlphabetVectors[] = [
  {
    name: "TypeID",
    source: "jetify-com/typeid 0.3.0, spec/valid.yml and spec/invalid.yml",
    bits: 128,
    text: { alphabet: "crockford-lower", prefix: "prefix_" },
    valid: [
      ["prefix_00000000000000000000000000", bare("00000000-0000-0000-0000-000000000000")],
      ["prefix_00000000000000000000000001", bare("00000000-0000-0000-0000-000000000001")],
      ["prefix_0000000000000000000000000a", bare("00000000-0000-0000-0000-00000000000a")],
      ["prefix_0000000000000000000000000g", bare("00000000-0000-0000-0000-000000000010")],
      ["prefix_00000000000000000000000010", bare("00000000-0000-0000-0000-000000000020")],
      ["prefix_7zzzzzzzzzzzzzzzzzzzzzzzzz", bare("ffffffff-ffff-ffff-ffff-ffffffffffff")],
      ["prefix_0123456789abcdefghjkmnpqrs", bare("0110c853-1d09-52d8-d73e-1194e95b5f19")],
      ["prefix_01h455vb4pex5vsknk084sn02q", bare("01890a5d-ac96-774b-bcce-b302099a8057")],
    ],
    invalid: [
      "PREFIX_00000000000000000000000000",
      "12345_00000000000000000000000000",
      "pre.fix_00000000000000000000000000",
      "préfix_00000000000000000000000000",
      "  prefix_00000000000000000000000000",
      "_00000000000000000000000000",
      "_",
      "prefix_1234567890123456789012345",
      "prefix_123456789012345678901234567",
      "prefix_1234567890123456789012345 ",
      "prefix_0123456789ABCDEFGHJKMNPQRS",
      "prefix_123456789-123456789-123456",
      "prefix_ooooooiiiiiiuuuuuuulllllll",
      "prefix_i23456789ol23456789oi23456",
      "prefix_123456789-0123456789-0123456",
      "prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    ],
  },
  {
    name: "TypeID whose prefix has an underscore",
    source: "jetify-com/typeid 0.3.0, spec/valid.yml",
    bits: 128,
    text: { alphabet: "crockford-lower", prefix: "pre_fix_" },
    valid: [["pre_fix_00000000000000000000000000", bare("00000000-0000-0000-0000-000000000000")]],
    invalid: ["pre_00000000000000000000000000", "fix_00000000000000000000000000"],
  },
  {
    name: "uuid25",
    source: "npm uuid25 0.1.5, README",
    bits: 128,
    text: { alphabet: "base36", case: "ignored" },
    valid: [
      ["8dx554y5rzerz1syhqsvsdw8t", bare("8da942a4-1fbe-4ca6-852c-95c473229c7d")],
      ["f5lxx1zz5pnorynqglhzmsp33", bare("ffffffff-ffff-ffff-ffff-ffffffffffff")],
      ["dpoadk8izg9y4tte7vy1xt94o", bare("e7a1d63b-7117-4423-8988-afcf12161878")],
    ],
    invalid: ["f5lxx1zz5pnorynqglhzmsp34", "dpoadk8izg9y4tte7vy1xt94", "zzzzzzzzzzzzzzzzzzzzzzzzz"],
  },
  {
    name: "SCRU128",
    source: "npm scru128 3.0.6, README; bits by its Scru128Id.fromString",
    bits: 128,
    text: { alphabet: "base36", case: "ignored" },
    valid: [["036z951mhjikzik2gsl81gr7l", "017fa1d8beb625087798d410f90dfec1"]],
    invalid: ["036z951mhjikzik2gsl81gr7l0", "036z951mhjikzik2gsl81gr7-"],
  },
  {
    name: "TID of AT Protocol",
    source: "atproto.com/specs/tid; bluesky-social/atproto, interop-test-files/syntax/tid_syntax_*.txt",
    bits: 64,
    text: { alphabet: "base32-sortable" },
    valid: [
      ["2222222222222", "0000000000000000"],
      ["3zzzzzzzzzzzz", "1fffffffffffffff"],
      ["7777777777777", "5294a5294a5294a5"],
    ],
    invalid: [
      "3jzfcijpj2z21",
      "0000000000000",
      "3JZFCIJPJ2Z2A",
      "3jzfcijpj2z2aa",
      "3jzfcijpj2z2",
      "222",
      "3jzf-cij-pj2z-2a",
      "zzzzzzzzzzzzz",
      "kjzfcijpj2z2a",
    ],
  },
  {
    name: "short-uuid",
    source: "npm short-uuid 6.0.3, README: flickrBase58, with constant length",
    bits: 128,
    text: { alphabet: "base58-flickr" },
    valid: [
      ["mhvXdrZT4jP5T8vBxuvm75", bare("a44521d0-0fb8-4ade-8002-3385545c3318")],
      ["1bZLJsfkhvwWHrj4Y3h5Hv", bare("01890a5d-ac96-774b-bcce-b302099a8057")],
      ["1111111111111111111112", bare("00000000-0000-0000-0000-000000000001")],
    ],
    invalid: ["bZLJsfkhvwWHrj4Y3h5Hv", "0bZLJsfkhvwWHrj4Y3h5Hv", "ZZZZZZZZZZZZZZZZZZZZZZ", "lbZLJsfkhvwWHrj4Y3h5Hv"],
  },
  {
    name: "base58 of Bitcoin",
    source: "npm short-uuid 6.0.3 with Bitcoin's alphabet; npm uuid-encoder 1.2.0 writes as few digits as needed",
    bits: 128,
    text: { alphabet: "base58" },
    valid: [["1BzmjTFLHWXwiSK4y3H5iW", bare("01890a5d-ac96-774b-bcce-b302099a8057")]],
    invalid: ["BzmjTFLHWXwiSK4y3H5iW"],
  },
  {
    name: "base58 of as few digits as needed",
    source: "npm uuid-encoder 1.2.0, base58",
    bits: 128,
    text: { alphabet: "base58", padded: false },
    valid: [["BzmjTFLHWXwiSK4y3H5iW", bare("01890a5d-ac96-774b-bcce-b302099a8057")]],
    invalid: ["1BzmjTFLHWXwiSK4y3H5iW", "BzmjTFLHWXwiSK4y3H5iWBz"],
  },
  {
    name: "base62 with small letters first",
    source: "npm uuid-base62 0.1.0, its encode; the texts of its README are of another alphabet, with capitals first",
    bits: 128,
    text: { alphabet: "base62-lower-first" },
    valid: [
      ["4ImLVy8Z0sKXy0JPzkB0QD", bare("9af099b2-6244-4fc1-b72b-1d69a24481b7")],
      ["4nipILgJlXPutO1hsisIJr", bare("8fc60e7c-3b3c-48e9-a6a7-a5fe4f1fbc31")],
      ["02TCriYRXlxtr81b3DQDoX", bare("01890a5d-ac96-774b-bcce-b302099a8057")],
    ],
    invalid: ["2TCriYRXlxtr81b3DQDoX", "02TCriYRXlxtr81b3DQDo-"],
  },
  {
    name: "KSUID in hex",
    source: "segmentio/ksuid, README: 0ujtsYcgvSTl8PAuAdqWYSMnLOv",
    bits: 160,
    text: { alphabet: "hex-upper" },
    valid: [["0669F7EFB5A1CD34B5F99D1154FB6853345C9735", "0669f7efb5a1cd34b5f99d1154fb6853345c9735"]],
    invalid: ["0669f7efb5a1cd34b5f99d1154fb6853345c9735", "669F7EFB5A1CD34B5F99D1154FB6853345C9735"],
  },
  {
    name: "base64url with padding",
    source: "RFC 4648, section 5; Buffer.toString of Node with `==`",
    bits: 128,
    text: { alphabet: "base64url", fill: "end", suffix: "==" },
    valid: [
      ["AYkKXayWd0u8zrMCCZqAVw==", bare("01890a5d-ac96-774b-bcce-b302099a8057")],
      ["_____________________w==", bare("ffffffff-ffff-ffff-ffff-ffffffffffff")],
    ],
    invalid: [
      "AYkKXayWd0u8zrMCCZqAVw",
      "AYkKXayWd0u8zrMCCZqAVw=",
      "AYkKXayWd0u8zrMCCZqAVx==",
      "AYkKXayWd0u8zrMCCZqAVw==".replaceAll("=", "A"),
    ],
  },
  {
    name: "four groups of seven digits",
    source: "npm uuid-apikey 1.5.3: each group has 32 bits of the UUID, and 3 bits of parity",
    bits: 140,
    text: { alphabet: "crockford", groups: [7, 7, 7, 7], separator: "-" },
    valid: [
      // 0x01890a5d with 7, 0xac96774b with 5, and so on.
      ["064GMQF-NJB7EJX-QK7B60N-16D80NV", groups("01890a5d7 ac96774b5 bcceb3025 099a80573")],
    ],
    invalid: ["064GMQFNJB7EJXQK7B60N16D80NV", "064gmqf-njb7ejx-qk7b60n-16d80nv", "064GMQF-NJB7EJX-QK7B60N_16D80NV"],
  },
];

/** Each group: eight hexadecimal digits and one of three bits. */
function groups(text: string): string {
  const bits = text.split(" ").map(
    (group) =>
      BigInt(`0x${group.slice(0, 8)}`)
        .toString(2)
        .padStart(32, "0") + Number(group[8]).toString(2).padStart(3, "0"),
  );
  return BigInt(`0b${bits.join("")}`).toString(16);
}
