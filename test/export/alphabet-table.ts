/** Declared alphabets of every kind, each the text of an entity's IDs, with routes by their keys. */

const REGIONS = ["eu", "us", "ap"];

const rowsAt = (at: number, bits: number) => [
  { field: "mintedAt", bits: 42, role: "time", unit: "ms", epoch: "2020-01-01T00:00:00Z" },
  { field: "format", bits: 4, role: "fixed", value: at },
  { field: "shardKey", bits: 8, role: "key" },
  { field: "random", bits: bits - 54, role: "random" },
];

const TEXTS = {
  typeid: { alphabet: "crockford-lower", prefix: "user_" },
  folded: { alphabet: "crockford", case: "ignored", prefix: "Acct-" },
  bitcoin: { alphabet: "base58" },
  flickr: [{ alphabet: "base58-flickr" }, "hex"],
  short: { alphabet: "base58", padded: false, prefix: "s_" },
  lowerfirst: { alphabet: "base62-lower-first" },
  uuid25: { alphabet: "base36", case: "ignored" },
  grouped: { alphabet: "crockford-lower", width: 28, groups: [7, 7, 7, 7], separator: "-" },
  dotted: { alphabet: "hex-upper", groups: [8, 24], separator: "." },
  padded: { alphabet: "base64url", suffix: "==" },
  odd: { alphabet: "!$'()*+,;=:@~._" },
  bytes: { alphabet: "base64url", fill: "end", suffix: "==" },
} as const;

const names = Object.keys(TEXTS);

export const ALPHABET_TABLE = {
  regions: Object.fromEntries(REGIONS.map((name, at) => [name, { origins: [{ url: `http://10.0.${at}.1:8788` }] }])),
  entities: Object.fromEntries(
    [...names, "tid", "wide"].map((name) => [name, { path: `/${name}/:id`, ids: [{ layout: `${name}-id` }] }]),
  ),
  layouts: {
    ...Object.fromEntries(
      Object.entries(TEXTS).map(([name, text], at) => [`${name}-id`, { rows: rowsAt(at, 128), text }]),
    ),
    "tid-id": {
      rows: [
        { field: "sign", bits: 1, role: "fixed", value: 0 },
        { field: "mintedAt", bits: 53, role: "time", unit: "us", epoch: "1970-01-01T00:00:00Z" },
        { field: "clock", bits: 10, role: "node" },
      ],
      text: { alphabet: "base32-sortable" },
    },
    "wide-id": { rows: rowsAt(15, 168), text: { alphabet: "base58" } },
  },
  routes: [
    { when: { layout: "tid-id", fields: { clock: "0-511" } }, region: "us" },
    ...[...names, "wide"].flatMap((name, at) => [
      { when: { layout: `${name}-id`, shardKey: "0-99" }, region: REGIONS[at % 3] },
      { when: { layout: `${name}-id`, shardKey: "100-199" }, region: REGIONS[(at + 1) % 3] },
    ]),
  ],
  default: "ap",
};
