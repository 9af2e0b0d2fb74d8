import { describe, expect, test } from "vitest";
import { couldBe, declarationOf, ulid, uuidV4, uuidV7, type Words } from "../../../src/ids/index.ts";
import { resolveAny } from "../../../src/routing/index.ts";
import { waybill } from "../../cli/fake-runtime.ts";
import { load, NOW_MS } from "../../routing/tables.ts";

const UUID_V7 = "01890a5d-ac96-774b-bcce-b302099a8057";
const UUID_V4 = "a44521d0-0fb8-4ade-8002-3385545c3318";

/** Each text with what it could be, and whether the text proves it. Sources: `../text/alphabet-vectors.ts`. */
const TEXTS: readonly (readonly [text: string, what: string, bits: string, isProven: boolean])[] = [
  ["user_01h455vb4pex5vsknk084sn02q", "TypeID", UUID_V7, true],
  ["pre_fix_01h455vb4pex5vsknk084sn02q", "TypeID", UUID_V7, true],
  ["01h455vb4pex5vsknk084sn02q", "TypeID", UUID_V7, false],
  ["mhvXdrZT4jP5T8vBxuvm75", "UUID in base58 (Flickr), as of short-uuid", UUID_V4, false],
  ["1BzmjTFLHWXwiSK4y3H5iW", "UUID in base58 (Bitcoin)", UUID_V7, false],
  ["BzmjTFLHWXwiSK4y3H5iW", "UUID in base58 (Bitcoin), unpadded", UUID_V7, false],
  ["02TCriYRXlxtr81b3DQDoX", "UUID in base62 with small letters first", UUID_V7, false],
  ["8dx554y5rzerz1syhqsvsdw8t", "UUID in base36, as of uuid25", "8da942a4-1fbe-4ca6-852c-95c473229c7d", false],
  ["AYkKXayWd0u8zrMCCZqAVw", "UUID in base64url", UUID_V7, false],
  ["AYkKXayWd0u8zrMCCZqAVw==", "UUID in base64url with padding", UUID_V7, false],
  ["0669F7EFB5A1CD34B5F99D1154FB6853345C9735", "KSUID in hex", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", false],
  ["3jzfcijpj2z2a", "TID of AT Protocol", "3jzfcijpj2z2a", false],
  ["036z951mhjikzik2gsl81gr7l", "SCRU128", "036z951mhjikzik2gsl81gr7l", false],
  ["0C9W0F2J40ABC", "TSID", "0C9W0F2J40ABC", false],
];

describe.each(TEXTS)("%s", (text, what, bits, isProven) => {
  const found = couldBe(text, NOW_MS).filter((each) => each.what === what);

  test(`could be: ${what}`, () => {
    expect(found.map(({ layout, words }) => layout.format(words))).toEqual([bits]);
    expect(found.map((each) => each.isProven)).toEqual([isProven]);
  });

  test("is read by a table that declares it so", () => {
    const [first] = found;
    if (first === undefined) throw new Error("nothing found");
    const table = load({
      regions: { eu: { origins: [{ url: "https://eu.example.com" }] } },
      entities: { own: { path: "/own/:id", ids: [{ layout: "own" }] } },
      layouts: { own: declarationOf(first) },
      routes: [],
      default: "eu",
    });
    const decided = resolveAny(table, text, NOW_MS);
    expect(decided.ok && decided.value.words).toEqual(first.words);
  });

  test("is explained without a table", async () => {
    const { stdout, code } = await waybill(["explain", "--no-table", "--json", text]);
    const { couldBe: lines, candidates, error } = JSON.parse(stdout);
    const possible = candidates.filter(({ excluded }: { excluded: boolean }) => !excluded);
    expect(code).toBe(possible.length > 0 ? 0 : 1);
    if (isProven) {
      expect(possible).toMatchObject([{ layout: "uuid-v7" }]);
      expect(error).toBeUndefined();
    } else expect(lines).toContainEqual(expect.objectContaining({ what, text: bits }));
  });
});

test.each([
  ["a UUID of version 4 behind a prefix", "user_58j4gx03xr9bf800hkgnan6crr"],
  ["a TypeID of the year 3000", `user_${textOf(uuidV7.encode({ mintedAt: Date.UTC(3000, 0), random: 1n }))}`],
  ["a prefix that begins with an underscore", "_user_01h455vb4pex5vsknk084sn02q"],
  ["capitals", "USER_01H455VB4PEX5VSKNK084SN02Q"],
  ["22 digits of no UUID", "zzzzzzzzzzzzzzzzzzzzzz"],
  ["a word", "hello"],
  ["nothing", ""],
])("%s is not proven", (_name, text) => {
  expect(couldBe(text, NOW_MS).filter(({ isProven }) => isProven)).toEqual([]);
});

function textOf(words: { readonly ok: true; readonly value: Words } | { readonly ok: false }): string {
  return words.ok ? ulid.format(words.value).toLowerCase() : "";
}

test("a UUID of version 4 in a TypeID could be one", () => {
  const words = uuidV4.parse(UUID_V4);
  const text = `user_${textOf(words)}`;
  expect(couldBe(text, NOW_MS)).toMatchObject([{ what: "TypeID", layout: { name: "uuid-v4" }, isProven: false }]);
});

test("a text of 10 million characters takes no time", () => {
  for (const character of ["0", "a", "_", "z"]) expect(couldBe(character.repeat(10_000_000), NOW_MS)).toEqual([]);
});
