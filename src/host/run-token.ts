import { createHash, randomBytes } from "node:crypto";

/** An operator's token for one run, and its entry of `ADMIN_TOKENS`, which holds the digest alone. */
export function runToken(name: string) {
  const token = `waybill_${randomBytes(32).toString("base64url")}`;
  const sha256 = createHash("sha256").update(token).digest("hex");
  return { token, entry: { name, scope: "operator", sha256 } };
}
