import type { Locator, Page } from "playwright-core";
import { batches, HELD, inJson, PAYLOADS, WORDS } from "./payloads.ts";

/** Where the console shows texts of others. Each place gets all payloads, and says where all of them must be seen. */

export interface Place {
  readonly name: string;
  /** The author of the text, and how it comes to the page. */
  readonly from: string;
  readonly as?: "viewer" | "operator";
  show(stage: Stage): Promise<void>;
}

export interface Stage {
  readonly page: Page;
  /** Asks the gateway, with the token of an operator. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** How the region of `ID` answers from now on. */
  answer(body: string, contentType?: string, status?: number): void;
  /** Opens a page of the console. */
  go(fragment: string): Promise<void>;
  /** Waits until the texts stand there. */
  see(where: Locator, texts?: readonly string[]): Promise<void>;
  /** Looks all through the page for texts that must not be there. */
  seeNone(): Promise<void>;
  /** An answer of a gateway that lies: its own names have no room for markup. */
  forge(path: string, body: unknown, status?: number, contentType?: string): Promise<void>;
}

export type Table = Readonly<Record<string, object>>;

interface Status {
  readonly canary: { readonly revision: number } | null;
  readonly controlPlane: { readonly revision: number };
}

export const ID = "0192f0c1-7a30-8007-8040-8f3b2a1c9d78";

const box = (page: Page) => page.getByLabel("ID, short key, URL");
const cells = (texts: readonly string[]) => texts.map((text) => `"${text.replaceAll('"', '""')}"`);
const file = (name: string, text: string) => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
const openFile = async ({ page, go }: Stage, name: string, text: string): Promise<void> => {
  await go("#/look-up");
  const clear = page.getByRole("button", { name: "Clear" });
  await page.locator(".ask").waitFor();
  if ((await clear.count()) > 0) await clear.click();
  await page.locator("input[type=file]").setInputFiles(file(name, text));
};
export const named = <Value>(names: readonly string[], value: Value) =>
  Object.fromEntries(names.map((name) => [name, value]));
const preview = async ({ page, go }: Stage): Promise<void> => {
  await go(`#/look-up?id=${ID}`);
  await page.getByRole("button", { name: "Ask the gateway" }).click();
  await page.getByRole("button", { name: /^Show the/ }).click();
};
/** Parts of an entity are folded. */
const unfold = async ({ page }: Stage): Promise<void> => {
  await page.locator(".nested").first().waitFor();
  await page.locator(".nested details").evaluateAll((all) => {
    for (const each of all) (each as HTMLDetailsElement).open = true;
  });
};
/** Rows of a long list are drawn when they come into view. */
const seeRows = async ({ page, see }: Stage, texts: readonly string[]): Promise<void> => {
  const rows = page.locator(".many");
  for (let first = 0; first < texts.length; first += 10) {
    await rows.evaluate((list, at) => list.scrollTo(0, at * 34), first);
    await see(rows, texts.slice(first, first + 10));
  }
};
const write = async ({ page }: Stage, text: string): Promise<void> => {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
};
const publish = async ({ ask }: Stage, change: (table: Table) => object, note = "") => {
  const current = await ask("/-/table");
  const headers = { "if-match": current.headers.get("etag") ?? "", "waybill-note": encodeURIComponent(note) };
  const body = JSON.stringify(change((await current.json()) as Table), null, 2);
  const { status } = await ask("/-/table", { method: "PUT", headers, body });
  if (status !== 201) throw new Error(`a table was refused with ${status}`);
};
const claim = async ({ ask }: Stage, key: string, owner: string): Promise<void> => {
  const body = JSON.stringify({ owner, operation: "x", region: "us" });
  const { status } = await ask(`/-/directory/slug/${encodeURIComponent(key)}`, { method: "PUT", body });
  if (status > 201) throw new Error(`a key was refused with ${status}`);
};
const directories = async ({ forge, go, page }: Stage): Promise<void> => {
  // To count the keys takes every object of the directory some seconds.
  await forge("/-/directory/slug/-/counts", problem("", ""), 503);
  await go("#/capacity");
  await page.getByRole("button", { name: "Find a key" }).click();
};
const noted = async (stage: Stage, show = ""): Promise<void> => {
  for (const [at, texts] of batches(PAYLOADS, 500).entries()) {
    await publish(stage, (table) => ({ ...table, epochFloor: at + 1 }), texts.join(" "));
  }
  await stage.go(`#/history${show}`);
};
/** A history with problems of these names. */
const historyWith = (problems: readonly string[]) => {
  const at = [1, 2, 3].map((step) => Math.floor(Date.now() / 10_000) * 10 - 30 + step * 10);
  const [counts, none] = [
    [1, 1, 1],
    [1, 1, 1],
  ];
  const total = {
    requests: counts,
    errors: counts,
    refused: counts,
    faults: counts,
    busyMs: counts,
    p50: none,
    p99: none,
    originP50: none,
    originP99: none,
  };
  const figures = { requests: 0, errors: 0, p50: null, p99: null };
  return {
    source: "all",
    span: "hour",
    stepSeconds: 10,
    since: new Date().toISOString(),
    at,
    total,
    regions: {},
    problems: named(problems, counts),
    tables: { stable: figures, canary: figures },
    canaryVerdict: { verdict: "none", words: "", worse: [] },
    isolates: { count: 0, shown: [] },
  };
};
const without = (entries: object | undefined, name: string) =>
  Object.fromEntries(Object.entries(entries ?? {}).filter(([other]) => other !== name));
const problem = (title: string, detail: string) => ({ type: "/-/problems/forbidden", title, detail, status: 403 });
/** RFC 6901. */
const inPointer = (texts: readonly string[]) => texts.map((text) => text.replaceAll("~", "~0").replaceAll("/", "~1"));
const ALL = PAYLOADS.join(" ");

export const PLACES: readonly Place[] = [
  {
    name: "an ID in the box",
    from: "pasted",
    async show({ page, go, see }) {
      await go("#/look-up");
      for (const words of batches(WORDS, 1_000)) {
        await box(page).fill(words.join("|"));
        await page.getByText("As JSON").click();
        await see(page.locator("pre.json"), inJson(words));
      }
    },
  },
  {
    name: "a list of IDs",
    from: "pasted, one a line",
    async show(stage) {
      await stage.go("#/look-up");
      await box(stage.page).fill(WORDS.join("\n"));
      await seeRows(stage, WORDS);
    },
  },
  {
    name: "cells of a CSV",
    from: "a file that is opened",
    async show(stage) {
      await openFile(stage, "ids.csv", `${cells(HELD).join(",\n")},`);
      await seeRows(stage, HELD);
    },
  },
  {
    name: "names of columns of a CSV",
    from: "a file that is opened; with IDs below, that of their column alone is shown",
    async show(stage) {
      const row = HELD.map((_, at) => (at === 0 ? ID : "-")).join(",");
      await openFile(stage, "ids.csv", [`id,${cells(HELD.slice(1)).join(",")}`, row, row].join("\n"));
      await stage.see(stage.page.locator(".many"), [ID, ID]);
      await stage.seeNone();
      for (const names of batches(HELD, 500)) {
        await openFile(stage, "ids.csv", `${cells([names.join(" ")])},x\n${ID},-\n${ID},-`);
        await stage.see(stage.page.locator(".ask code"), names);
      }
      await openFile(stage, "ids.csv", cells(HELD).join(","));
      await seeRows(stage, HELD);
    },
  },
  {
    name: "names of files",
    from: "a file that is opened",
    async show(stage) {
      for (const payloads of batches(PAYLOADS, 500)) {
        await openFile(stage, `${payloads.join(" ")}.csv`, `${ID}\n${ID}`);
        await stage.see(stage.page.locator(".ask"), payloads);
      }
    },
  },
  {
    name: "the palette",
    from: "typed in the box for everything",
    async show({ page, go, see }) {
      await go("#/look-up");
      await page.keyboard.press("Control+k");
      for (const words of batches(WORDS, 1_000)) {
        await page.getByRole("combobox").last().fill(words.join("|"));
        await see(page.getByRole("listbox"), words);
      }
      await page.keyboard.press("Escape");
    },
  },
  {
    name: "the ID of a link",
    from: "a link of others to the console",
    async show({ page, go, see }) {
      for (const words of batches(WORDS, 2_000)) {
        await go(`#/look-up?id=${encodeURIComponent(words.join("|"))}`);
        await see(box(page), words);
      }
    },
  },
  {
    name: "the page and the members of a link",
    from: "a link of others to the console; unknown ones are not shown",
    async show({ page, go, seeNone }) {
      for (const payload of PAYLOADS) {
        await go(`#/${payload}?${payload}=${payload}&${encodeURIComponent(payload)}`);
        await page.getByRole("heading", { name: "Where does this ID go?" }).waitFor();
        await seeNone();
      }
    },
  },
  {
    name: "a problem of the gateway that quotes an ID",
    from: "the gateway, of an ID that is pasted",
    async show(stage) {
      await stage.go("#/look-up");
      const names = PAYLOADS.map((payload) => payload.replaceAll(/[\s,;/?#]/g, "_"));
      // It quotes so many characters.
      for (const texts of batches(names, 128)) {
        await box(stage.page).fill(`/orders/x${texts.join("|")}x`);
        await stage.page.getByRole("button", { name: "Ask the gateway" }).click();
        await stage.see(stage.page.locator(".because"), texts);
      }
    },
  },
  {
    name: "names and values of an entity",
    from: "an origin: the JSON of an entity",
    async show(stage) {
      stage.answer(JSON.stringify(Object.fromEntries(PAYLOADS.map((one) => [one, [one, { [one]: one }]]))));
      await preview(stage);
      await unfold(stage);
      await stage.see(stage.page.locator(".nested dt"), [...PAYLOADS, ...PAYLOADS]);
      await stage.see(stage.page.locator(".nested dd"), [...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "a problem of an origin",
    from: "an origin: title and detail of a problem document",
    async show(stage) {
      stage.answer(JSON.stringify({ type: ALL, title: ALL, detail: ALL }), "application/problem+json", 404);
      await preview(stage);
      await stage.see(stage.page.locator(".nested dd"), [...PAYLOADS, ...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "text of an origin that only claims to be JSON",
    from: "an origin",
    async show(stage) {
      stage.answer(ALL, "application/json");
      await preview(stage);
      await stage.see(stage.page.locator("#main"), PAYLOADS);
    },
  },
  {
    name: "the media type of an answer",
    from: "an origin: the one header field that is shown",
    async show(stage) {
      stage.answer("x", `text/html; ${ALL}`);
      await preview(stage);
      await stage.see(stage.page.locator("#main"), PAYLOADS);
    },
  },
  {
    name: "notes of publications",
    from: "a publisher",
    async show(stage) {
      await noted(stage);
      await stage.see(stage.page.getByRole("region", { name: "Revisions", exact: true }), PAYLOADS);
    },
  },
  {
    name: "notes of the audit",
    from: "a publisher",
    async show(stage) {
      await noted(stage, "?show=log");
      await stage.see(stage.page.getByRole("region", { name: "Who did what" }), PAYLOADS);
    },
  },
  {
    name: "notes of canaries",
    from: "a publisher",
    async show(stage) {
      const table = await (await stage.ask("/-/table")).json();
      const status = async () => (await (await stage.ask("/-/table/status")).json()) as Status;
      for (const texts of batches(PAYLOADS, 500)) {
        const { canary, controlPlane } = await status();
        const headers = { "if-match": `"${canary?.revision ?? controlPlane.revision}"` };
        const body = JSON.stringify({
          table: { ...(table as object), epochFloor: 99 },
          share: 5,
          note: texts.join(" "),
        });
        const { status: code } = await stage.ask("/-/table/canary", { method: "POST", headers, body });
        if (code !== 201) throw new Error(`a canary was refused with ${code}`);
      }
      const headers = { "if-match": `"${(await status()).canary?.revision}"` };
      await stage.ask("/-/table/abort", { method: "POST", headers, body: "{}" });
      await stage.go("#/history");
      await stage.see(stage.page.locator("li", { hasText: "canary, ended" }), PAYLOADS);
      await stage.go("#/history?show=log");
      await stage.see(stage.page.locator("tr", { hasText: "canary" }), PAYLOADS);
    },
  },
  {
    name: "texts of the table in force",
    from: "a publisher: the editor shows the table",
    async show(stage) {
      await stage.go("#/editor");
      await stage.see(stage.page.locator(".editor .cm-content"), inJson(PAYLOADS));
    },
  },
  {
    name: "class names of a table",
    from: "a publisher: they are any text, and only the editor shows them",
    async show(stage) {
      // The editor draws what is in view, and a little more.
      for (const texts of batches(PAYLOADS, 512)) {
        const ids = batches(texts, 256).map((names) => ({ layout: "luuid", class: names.join(" ") }));
        await publish(stage, ({ entities, ...table }) => ({
          entities: { classes: { path: "/classes/:id", ids }, ...without(entities, "classes") },
          ...table,
        }));
        await stage.go("#/editor");
        await stage.page.reload();
        await stage.see(stage.page.locator(".editor .cm-content"), inJson(texts));
      }
    },
  },
  {
    name: "texts of two revisions side by side",
    from: "a publisher",
    async show(stage) {
      await publish(stage, (table) => ({ ...table, $schema: `${HELD.join(" ")} ` }));
      await stage.go("#/history");
      await stage.see(stage.page.getByRole("region", { name: "The text" }), inJson(HELD));
      await publish(stage, (table) => ({ ...table, $schema: ALL }));
    },
  },
  {
    name: "a directory's key",
    from: "an origin or a program that claims a key",
    async show(stage) {
      await directories(stage);
      // No key has a slash.
      const names = PAYLOADS.map((payload) => payload.replaceAll("/", "|").toLowerCase());
      for (const keys of batches(names, 500)) {
        await claim(stage, keys.join(" "), "x");
        await stage.page.getByLabel("Key", { exact: true }).fill(keys.join(" "));
        await stage.page.getByRole("button", { name: "Find", exact: true }).click();
        await stage.see(stage.page.locator("#main [role=status]"), keys);
      }
    },
  },
  {
    name: "the owner of a directory's key",
    from: "an origin or a program that claims a key",
    async show(stage) {
      await directories(stage);
      for (const [at, owners] of batches(PAYLOADS, 512).entries()) {
        await claim(stage, `owned-${at}`, owners.join(" "));
        await stage.page.getByLabel("Key", { exact: true }).fill(`owned-${at}`);
        await stage.page.getByRole("button", { name: "Find", exact: true }).click();
        await stage.see(stage.page.locator("#main [role=status]"), owners);
      }
    },
  },
  {
    name: "who moved an entity, and why",
    from: "a publisher, or a person of Access; a lying gateway",
    async show(stage) {
      const since = { revision: 1, author: ALL, time: null, note: ALL, isExact: true };
      const rule = { rule: { kind: "moved" }, pointer: "/moved", line: 1, entry: "us", since };
      await stage.forge(`/-/console/rule/${ID}`, { revision: 1, entity: "order", region: "us", ...rule });
      await stage.go(`#/look-up?id=${ID}`);
      await stage.page.getByRole("button", { name: "Ask the gateway" }).click();
      await stage.see(stage.page.locator(".because"), [...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "a layout that is declared in the page",
    from: "typed: its name, prefix and fields",
    async show({ page, go, see }) {
      await go("#/layouts?own=1");
      for (const payloads of batches(PAYLOADS, 500)) {
        const text = payloads.join(" ");
        for (const label of ["Name", "Prefix", "Name of field 1"]) {
          await page.getByLabel(label, { exact: true }).fill(text);
        }
        await see(page.locator(".list code"), inPointer(payloads));
      }
    },
  },
  {
    name: "comments in the editor",
    from: "typed or pasted by an operator",
    as: "operator",
    async show(stage) {
      await stage.go("#/editor");
      await write(stage, `// ${ALL}\n{}`);
      await stage.see(stage.page.locator(".editor .cm-content"), PAYLOADS);
    },
  },
  {
    name: "faults of a table",
    from: "the check in the page, of names that an operator typed or pasted",
    as: "operator",
    async show(stage) {
      await stage.go("#/editor");
      const origins = [{ url: "http://x.test" }];
      // It lists the first fifty faults.
      for (const texts of [PAYLOADS.slice(0, 25), PAYLOADS.slice(25)]) {
        await write(stage, JSON.stringify({ regions: named(texts, { origins }), entities: {}, routes: [] }));
        await stage.see(stage.page.locator(".faults"), texts);
      }
    },
  },
  {
    name: "faults in the editor",
    from: "the same, in the list of the editor",
    as: "operator",
    async show(stage) {
      await stage.go("#/editor");
      const name = JSON.stringify(ALL);
      await write(stage, `{${name}: 1, ${name}: 2}`);
      await stage.page.keyboard.press("Control+Shift+M");
      await stage.see(stage.page.locator(".editor .cm-panel-lint"), inJson(PAYLOADS));
    },
  },
  {
    name: "completion in the editor",
    from: "names of a table that an operator typed or pasted",
    as: "operator",
    async show(stage) {
      await stage.go("#/editor");
      await write(stage, JSON.stringify({ regions: named(PAYLOADS, {}), default: "" }));
      await stage.page.keyboard.press("Control+End");
      for (const _ of '"}') await stage.page.keyboard.press("ArrowLeft");
      await stage.page.keyboard.press("Control+Space");
      await stage.see(stage.page.locator(".editor .cm-tooltip-autocomplete"), inJson(PAYLOADS));
    },
  },
  {
    name: "a note that is being written",
    from: "typed by an operator",
    as: "operator",
    async show(stage) {
      await stage.go("#/moves");
      await stage.page.getByLabel("ID or URL").fill(ID);
      await stage.page.getByRole("button", { name: "Start the move" }).click();
      for (const texts of batches(PAYLOADS, 500)) {
        await stage.page.getByLabel("Note").fill(texts.join(" "));
        await stage.see(stage.page.getByLabel("Note"), texts);
      }
    },
  },
  {
    name: "who is signed in",
    from: "Access: a person's address; a lying gateway",
    async show(stage) {
      await stage.forge("/-/console/session", { name: ALL, scope: "viewer", by: "access", expiresAt: null });
      await stage.go("#/look-up?again");
      await stage.see(stage.page.locator("header.top"), PAYLOADS);
    },
  },
  {
    name: "who did what",
    from: "Access: a person's address; a lying gateway",
    async show(stage) {
      const entry = { id: 1, time: new Date().toISOString(), author: ALL, action: ALL, outcome: ALL, note: "" };
      await stage.forge("/-/table/audit", { entries: [entry] });
      await stage.go("#/history?show=log");
      const audit = stage.page.getByRole("region", { name: "Entries" });
      await stage.see(audit, [...PAYLOADS, ...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "who moved entities, in the list of them",
    from: "a publisher, or a person of Access; a lying gateway",
    async show(stage) {
      const { moved } = (await (await stage.ask("/-/table")).json()) as { readonly moved: object };
      const since = { revision: 1, author: ALL, time: new Date().toISOString(), note: ALL, isExact: true };
      await stage.forge(`/-/console/rule/${Object.keys(moved)[0]}`, { revision: 1, since });
      await stage.go("#/moves");
      await stage.see(stage.page.getByRole("region", { name: "Moved" }), [...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "the verdict about a canary, and its note",
    from: "a publisher; a lying gateway",
    async show(stage) {
      const status = (await (await stage.ask("/-/table/status")).json()) as object;
      const canary = { revision: 9, digest: "", share: 5 };
      const none = { "2xx": 0, "3xx": 0, "404": 0, "421": 0, "4xx": 0, "5xx": 0, elsewhere: 0, left: 0 };
      const figures = { requests: 0, errors: 0, classes: none, p50: null, p99: null };
      const worse = [{ class: ALL, canary: 1, inForce: 0 }];
      await stage.forge("/-/table/status", { ...status, canary });
      const entry = { revision: 9, digest: "", bytes: 1, author: ALL, time: new Date().toISOString(), note: ALL };
      await stage.forge("/-/table/revisions", { revisions: [{ ...entry, kind: "canary" }] });
      await stage.forge("/-/table/revisions/9", await (await stage.ask("/-/table")).text());
      await stage.forge("/-/metrics/history", {
        ...historyWith([]),
        tables: { stable: figures, canary: figures },
        canaryVerdict: { verdict: "worse", words: ALL, worse },
      });
      await stage.go("#/canary");
      await stage.see(stage.page.locator("#main"), [...PAYLOADS, ...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "why a sign-in failed",
    from: "a lying gateway",
    async show(stage) {
      await stage.forge("/-/console/session", problem(ALL, ALL), 401);
      await stage.go("#/overview?again");
      await stage.page.getByLabel("Token").fill("x");
      await stage.page.getByRole("button", { name: "Sign in" }).click();
      await stage.see(stage.page.locator(".gate [role=alert]"), PAYLOADS);
    },
  },
  {
    name: "a problem of the gateway",
    from: "a lying gateway: title and detail",
    async show(stage) {
      await stage.forge("/-/table/capacity", problem(ALL, ALL), 403);
      await stage.go("#/capacity");
      await stage.see(stage.page.getByRole("alert"), [...PAYLOADS, ...PAYLOADS]);
    },
  },
  {
    name: "hosts, checks and last faults of origins",
    from: "a lying gateway",
    async show(stage) {
      const at = new Date().toISOString();
      const lastCheck = { at, good: false, status: null, fault: ALL };
      const origin = { host: ALL, weight: 1, breaker: "closed", lastFault: { fault: ALL, at }, lastCheck };
      await stage.forge("/-/regions", { source: "x", since: at, regions: { us: { origins: [origin] } } });
      await stage.go("#/overview");
      await stage.see(stage.page.locator("#main"), PAYLOADS);
      // Kinds of faults are words.
      const faults = PAYLOADS.map((payload) => payload.replaceAll(/_+/g, " "));
      await stage.see(stage.page.locator("#main"), [...faults, ...faults]);
    },
  },
  {
    name: "the last error of a publication",
    from: "a lying gateway",
    async show(stage) {
      const status = (await (await stage.ask("/-/table/status")).json()) as object;
      await stage.forge("/-/table/status", { ...status, lastError: ALL });
      await stage.go("#/overview");
      await stage.see(stage.page.locator("#main"), PAYLOADS);
    },
  },
  {
    name: "labels of metrics",
    from: "a lying gateway",
    async show(stage) {
      await stage.forge("/-/events", "", 200, "text/event-stream");
      await stage.forge("/-/metrics/history", historyWith(PAYLOADS));
      await stage.go("#/overview");
      await stage.page.getByRole("button", { name: `All ${PAYLOADS.length}` }).click();
      await stage.see(stage.page.locator(".problems"), PAYLOADS);
    },
  },
  {
    name: "events",
    from: "a lying gateway, in the stream of the live view",
    async show(stage) {
      const event = `event: traffic\ndata: ${JSON.stringify(historyWith(PAYLOADS))}\n\n`;
      await stage.forge("/-/metrics/history", problem("", ""), 503);
      await stage.forge("/-/events", event, 200, "text/event-stream");
      await stage.go("#/overview");
      await stage.page.getByRole("button", { name: `All ${PAYLOADS.length}` }).click();
      await stage.see(stage.page.locator(".problems"), PAYLOADS);
    },
  },
];
