import { createHash } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { command, group, option, required } from "../command.ts";
import { jsonText } from "../lib/output.ts";
import { EXIT } from "../runtime.ts";

/** A name as `ADMIN_TOKENS` accepts it. */
const tokenName = (text: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError("A name has letters, digits, `.`, `_` and `-`, at most 64, a letter or digit first.");
};

export const token = group("token", "create bearer tokens for the gateway's own endpoints", [
  command({
    name: "new",
    description: "generate a token on stdout, and its entry for the secret ADMIN_TOKENS on stderr",
    options: [
      required("--name <name>", "the holder, as shown in the audit log", tokenName),
      required("--scope <scope>", "what the holder may do").choices([
        "support",
        "viewer",
        "operator",
        "mint",
        "directory",
      ]),
      option("--json", "one JSON object with both, on stdout"),
    ],
    help: `
Examples:
  $ waybill token new --name ci --scope operator
  $ waybill token new --name grafana --scope viewer > token 2> entry.json

The token is shown only once; the entry contains only its SHA-256. docs/operate/deploy.md says where both go.`,
    run: async (runtime, _, { name, scope, json }) => {
      const bytes = Buffer.from(Uint32Array.from({ length: TOKEN_WORDS }, () => runtime.entropy.word()).buffer);
      const token = TOKEN_PREFIX + bytes.toString("base64url");
      const entry = { name, scope, sha256: createHash("sha256").update(token).digest("hex") };
      if (!json) runtime.report(jsonText(entry));
      await runtime.print(json ? jsonText({ token, entry }) : `${token}\n`);
      return EXIT.ok;
    },
  }),
]);

/** 256 bits: infeasible to guess. */
const TOKEN_WORDS = 8;

/** Secret scanners find the token by this prefix. */
const TOKEN_PREFIX = "waybill_";
