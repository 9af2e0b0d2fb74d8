import { join } from "node:path";
import { bodyKey } from "../../formats/kv.ts";
import { parseJson } from "../../routing/index.ts";
import { digestOf, packsOf, runWaybill } from "../publish/publish.ts";
import { runToken } from "../run-token.ts";
import type { RunningGateway } from "../workerd/gateway.ts";

type Settings = Readonly<Record<string, string>>;

/** Publishes edits of a table file to the gateway that runs, over HTTP like any operator. */
export function editPublisher(settings: Settings = {}, isOpen: boolean) {
  const { token, entry } = runToken("edits");
  const headers = { authorization: `Bearer ${token}` };
  const tokens: unknown = parseJson(settings["ADMIN_TOKENS"] ?? "[]");
  const ADMIN_TOKENS = JSON.stringify([...(Array.isArray(tokens) ? tokens : []), entry]);
  // Its requests are none of the user's.
  let hidden = 0;

  const ask = async (gateway: RunningGateway, path: string, init: RequestInit = {}) => {
    hidden += 1;
    const response = await fetch(gateway.url + path, { ...init, headers: { ...headers, ...init.headers } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path}: ${response.status}\n${text}`);
    const { headers: fields } = response;
    return { etag: fields.get("etag") ?? "", served: fields.get("waybill-table") ?? "", text };
  };

  return {
    settings: isOpen ? settings : { ...settings, ADMIN_TOKENS },

    isOwn(line: string): boolean {
      const isHidden = hidden > 0 && /"path":"\/-\/table"/.test(line);
      if (isHidden) hidden -= 1;
      return isHidden;
    },

    /** The new revision, and how the tables differ; `undefined`: this text is in force already. */
    async publish(gateway: RunningGateway, text: string, tableFile: string) {
      const before = await ask(gateway, "/-/table");
      if (before.text === text) return undefined;
      if (packsOf(text).length > 0) {
        const env = { WAYBILL_GATEWAY: gateway.url, WAYBILL_TOKEN: token };
        const { isGood, printed } = await runWaybill(["table", "upload-packs", tableFile], env);
        if (!isGood) throw new Error(printed);
      }
      const change = { method: "PUT", body: text, headers: { "if-match": before.etag } };
      const answer = await ask(gateway, "/-/table", change);
      const { revision } = JSON.parse(answer.text) as { readonly revision: number };
      const isInForce = answer.served.startsWith(`rev=${revision};`);
      const [old, made] = [before.text, text].map((each) => join(gateway.kvFolder, bodyKey(digestOf(each))));
      const diff = async () => (await runWaybill(["table", "diff", old ?? "", made ?? ""])).printed;
      return { revision, isInForce, diff };
    },
  };
}
