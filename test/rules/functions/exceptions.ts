/** Functions that may be over a bound, by `path name`, each with its reason. One that no longer needs it fails the test. */

const VIEW = "a view: its lines are markup, and its branches show parts of it";
const TEXT = "one text with its blanks, read beside what it makes";
const OPERATIONS = "a list of operations of OpenAPI, one entry each";
const SENTENCES = "one switch with a sentence for each kind";

const READERS = "one switch with a reader for each kind of source, on the way of a request without an ID";
const WALK = "every request's walk over the tree of paths: each step of it in a function, or in an object, would cost";
const ANY =
  "one decision of a request with an ID alone, in its order: each part of it would be a call on every such request";
const STATE = "a hash with its state in local variables: a function for a round would keep it in memory";

export const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/console/layouts/declare.tsx DeclareLayout": VIEW,
  "src/export/envoy.ts listener": TEXT,
  "src/export/envoy.ts cluster": TEXT,
  "src/export/haproxy.ts configText": TEXT,
  "src/export/lua-program.ts tailOf": TEXT,
  "src/export/nginx.ts httpText": TEXT,
  "routes/console/openapi.ts consolePaths": OPERATIONS,
  "src/features/directory/pages/bulk-openapi.ts directoryBulkPaths": OPERATIONS,
  "src/cli/lib/stores.ts faultSentence": SENTENCES,
  "src/cli/lib/warnings.ts sentenceOf": SENTENCES,
  "src/routing/resolve/region-sources.ts evaluate": READERS,
  "src/routing/lookup/path-index.ts walk": WALK,
  "src/gateway/decide.ts decideAny": ANY,
  "src/features/directory/table/key-hash.ts compress": STATE,
};
