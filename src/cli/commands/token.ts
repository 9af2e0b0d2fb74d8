import { createHash } from "node:crypto";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { RandomWords } from "../../ids/index.ts";
import { type Act, EXIT, type Runtime } from "../runtime.ts";

interface Options {
  readonly name: string;
  readonly scope: string;
  readonly json?: boolean;
}

/** `waybill token new`: a bearer token for the gateway's own pages, and what the deployment has to know of it. */
export const addToken = (parent: Command, act: Act): void => {
  parent
    .command("token")
    .description("create bearer tokens for the gateway's own endpoints")
    .command("new")
    .description("generate a token on stdout, and its entry for the secret ADMIN_TOKENS on stderr")
    .requiredOption("--name <name>", "the holder, as shown in the audit log", tokenName)
    .addOption(
      new Option("--scope <scope>", "what the holder may do").choices(["viewer", "operator"]).makeOptionMandatory(),
    )
    .option("--json", "one JSON object with both, on stdout")
    .addHelpText("after", HELP)
    .action(act(printToken));
};

const HELP = `
Examples:
  $ waybill token new --name ci --scope operator
  $ waybill token new --name grafana --scope viewer > token 2> entry.json

The token is shown only once; the entry contains only its SHA-256. docs/operate/deploy.md says where both go.`;

/** As `ADMIN_TOKENS` takes it. */
const tokenName = (text: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError("A name has letters, digits, `.`, `_` and `-`, at most 64, a letter or digit first.");
};

const printToken = async (runtime: Runtime, _: readonly string[], { name, scope, json }: Options) => {
  const token = newToken(runtime.entropy);
  const entry = { name, scope, sha256: createHash("sha256").update(token).digest("hex") };
  if (!json) runtime.report(`${JSON.stringify(entry)}\n`);
  await runtime.print(json ? `${JSON.stringify({ token, entry })}\n` : `${token}\n`);
  return EXIT.ok;
};

/** 256 bits; more than anybody will ever guess. */
const TOKEN_WORDS = 8;

/** Tools that look for lost secrets find it by its beginning. */
const TOKEN_PREFIX = "waybill_";

const newToken = (entropy: RandomWords): string => {
  const bytes = Buffer.from(Uint32Array.from({ length: TOKEN_WORDS }, () => entropy.word()).buffer);
  return TOKEN_PREFIX + bytes.toString("base64url");
};
