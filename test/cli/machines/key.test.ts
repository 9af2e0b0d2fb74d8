import { expect, it } from "vitest";
import { keyProof, peerKeyFindings } from "../../../src/host/machines/operate/key.ts";

it("a proof has time and nonce, and not the key", () => {
  // Recorded from workerd 1.20261117.1.
  const key = "826e6e0fe6beb2dcb3f5137f1a3efd1fb913cee395f74fea1d07bd5823648a2f";
  expect(keyProof(key, "127.0.0.1:46197", 1_795_845_399_788, "56d22ce7f955127236e1f513a94b82eb")).toBe(
    "1795845399788.56d22ce7f955127236e1f513a94b82eb.03bc0966c670e50d4bae3f93a5f1c6b4d4c54dc26293f0b88c5e23b92c07b141",
  );
});

it.each<readonly [taken: readonly string[], refused: readonly string[], state: string | undefined, text: RegExp]>([
  [[], [], undefined, /^/],
  [["b:7", "c:7"], [], "ok", /^the cluster key is that of b:7 and c:7$/],
  [["b:7"], ["c:7"], "error", /^the peer c:7 has another cluster key than this machine and b:7: copy the key to that/],
  [[], ["b:7", "c:7"], "error", /^key holds another cluster key than b:7 and c:7 have: copy theirs to this machine/],
  [[], ["b:7"], "error", /^key holds another cluster key than b:7 has: copy the right one to both again/],
])("peers that take the key: %j, that refuse it: %j", (taken, refused, state, text) => {
  const found = peerKeyFindings(taken, refused, "key");
  expect(found.map((each) => each.state)).toEqual(state === undefined ? [] : [state]);
  for (const each of found) expect(each.text).toMatch(text);
});
