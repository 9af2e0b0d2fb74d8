import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { packKey, pageKey } from "../../../../src/features/packs/table/pack.ts";
import { bodyKey, formKey } from "../../../../src/formats/kv.ts";
import type { MirrorLine } from "../../../../src/host/machines/mirror/lines.ts";
import { CODE_VERSION, makePack, Published } from "./published.ts";
import { startStateNode } from "./state-node.ts";
import { begin, filesOf, quickClock, revisionIn, scratch, until, untilRevision } from "./support.ts";
import { wholeCopy, wholeTable } from "./whole.ts";

/** The mirror over real HTTPS: what it takes, keeps, refuses and deletes. */

const { tls, newFolder, mirrorOf, newCertificates } = scratch();

/** Nobody listens there. */
const DEAD = "127.0.0.1:9";

const readIn = (folder: string) => (key: string) =>
  existsSync(join(folder, key)) ? readFileSync(join(folder, key)) : undefined;

const failuresIn = (lines: readonly MirrorLine[]) =>
  lines.flatMap((line) => (line.event === "mirror-failed" ? [`${line.source}: ${line.why}`] : []));

describe("a start", () => {
  it.concurrent("of an empty folder ends with the first whole table", async (context) => {
    const published = new Published();
    published.publish({ pack: await makePack({ ranges: 300, rangesPerPage: 100 }), directories: ["slug"] });
    await published.putCopy("slug", { a: "first", b: "second" });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([DEAD, node], folder));
    expect(await mirror.first).toBe("mirrored");
    expect(filesOf(folder)).toEqual(
      Object.fromEntries([...published.values].map(([key, bytes]) => [key, Buffer.from(bytes).toString("hex")])),
    );
    expect(mirror.status()).toMatchObject({ revision: 1, change: 1, node: node.address });
    expect(mirror.status().lastError).toContain(DEAD);
  });

  it.concurrent("of an empty folder without nodes ends after 5 s", async (context) => {
    const clock = quickClock();
    const beganAtMs = clock.nowMs();
    const mirror = await begin(context, mirrorOf([DEAD], newFolder(), { clock }));
    expect(await mirror.first).toBe("none");
    expect(clock.nowMs() - beganAtMs).toBeGreaterThanOrEqual(4_900);
    expect(mirror.status()).toMatchObject({ revision: undefined, ageMs: undefined });
  });

  it.concurrent("takes a table that is published later", async (context) => {
    const published = new Published();
    const node = await begin(context, startStateNode(published, tls));
    const mirror = await begin(context, mirrorOf([node], newFolder(), { clock: quickClock() }));
    expect(await mirror.first).toBe("none");
    published.publish({});
    await untilRevision(mirror, 1);
  });

  it.concurrent("reports a table only when it is served", async (context) => {
    const published = new Published();
    const node = await begin(context, startStateNode(published, tls));
    let serve = (): void => undefined;
    const served = new Promise<void>((resolve) => {
      serve = resolve;
    });
    const told: number[] = [];
    const onTable = async (revision: number) => {
      told.push(revision);
      await served;
    };
    const mirror = await begin(context, mirrorOf([node], newFolder(), { clock: quickClock(), onTable }));
    published.publish({});
    await untilRevision(mirror, 1);
    await until(() => told.length > 0, "told");
    // Long enough for another question, if none waited.
    await delay(200);
    const before = node.reports.get("edge-1");
    serve();
    await until(() => node.reports.get("edge-1") !== before, "another report");
    expect([told, before, node.reports.get("edge-1")]).toMatchObject([[1], { revision: 0 }, { revision: 1 }]);
  });

  it.concurrent("without nodes keeps what is there, at once, and knows its age", async (context) => {
    const published = new Published();
    published.publish({ pack: await makePack({ ranges: 300, rangesPerPage: 100 }) });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const before = await mirrorOf([node], folder);
    await before.first;
    await before.stop();
    const files = filesOf(folder);
    const beganAtMs = Date.now();
    const mirror = await begin(context, mirrorOf([DEAD, "127.0.0.1:10"], folder));
    expect(await mirror.first).toBe("kept");
    expect(Date.now() - beganAtMs).toBeLessThan(2_000);
    expect(filesOf(folder)).toEqual(files);
    expect(mirror.status()).toMatchObject({ revision: 1, node: undefined });
    expect(mirror.status().ageMs).toBeGreaterThanOrEqual(0);
  });

  it.concurrent("asks for nothing that is there and sound", async (context) => {
    const published = new Published();
    published.publish({ pack: await makePack({ ranges: 300, rangesPerPage: 100 }) });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    await (await mirrorOf([node], folder)).stop();
    const first = await mirrorOf([node], folder);
    await first.first;
    await first.stop();
    node.asked.length = 0;
    const mirror = await begin(context, mirrorOf([node], folder));
    await until(() => mirror.status().node !== undefined, "confirmed");
    expect(node.asked).toEqual([]);
  });

  it.concurrent.for([
    ["a torn page", (folder: string, pack: string) => truncateSync(join(folder, pageKey(pack, 1)), 10)],
    ["a longer page", (folder: string, pack: string) => appendFileSync(join(folder, pageKey(pack, 1)), "x")],
    ["a lost page", (folder: string, pack: string) => rmSync(join(folder, pageKey(pack, 2)))],
    ["an empty header", (folder: string, pack: string) => truncateSync(join(folder, packKey(pack)), 0)],
    ["an empty table", (folder: string, _: string, digest: string) => truncateSync(join(folder, bodyKey(digest)), 0)],
    [
      "a torn form",
      (folder: string, _: string, digest: string) => truncateSync(join(folder, formKey(digest, CODE_VERSION)), 33),
    ],
    ["a torn pointer", (folder: string) => truncateSync(join(folder, "table.current"), 20)],
    ["unfinished files", (folder: string) => appendFileSync(join(folder, ".mirror", "unfinished.7"), "half")],
  ] as const)("mends %s", async ([, harm], context) => {
    const published = new Published();
    const pack = await makePack({ ranges: 300, rangesPerPage: 100 });
    const { digest } = published.publish({ pack });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const before = await mirrorOf([node], folder);
    await before.first;
    await before.stop();
    const files = filesOf(folder);
    harm(folder, pack.sha256, digest);
    const mirror = await begin(context, mirrorOf([node], folder));
    await until(() => mirror.status().node !== undefined, "confirmed");
    await until(() => JSON.stringify(filesOf(folder)) === JSON.stringify(files), "mended");
    expect(readdirSync(join(folder, ".mirror")).filter((name) => name === "unfinished.7")).toEqual([]);
  });

  it.concurrent("is refused while another mirror has the folder", async (context) => {
    const node = await begin(context, startStateNode(new Published(), tls));
    const folder = join(newFolder(), "a".repeat(150));
    const first = await mirrorOf([node], folder);
    await expect(mirrorOf([node], folder)).rejects.toThrow(
      `${folder} is written by the mirror of another running edge. Stop it, or use another --state.`,
    );
    await first.stop();
    await begin(context, mirrorOf([node], folder));
  });
});

describe("a pointer", () => {
  it.concurrent.for([
    [
      "an older revision",
      { revision: 1, change: 9 },
      "has revision 1, change 9, which is older than revision 2, change 2",
    ],
    [
      "an older change",
      { revision: 2, change: 1 },
      "has revision 2, change 1, which is older than revision 2, change 2",
    ],
    [
      "other tables under the same numbers",
      { revision: 2, change: 2 },
      "has other tables than this edge under the same numbers",
    ],
  ] as const)("of %s is refused, also by the next start, until it is newer", async ([, numbers, why], context) => {
    const published = new Published();
    const { digest } = published.publish({ region: "first" });
    published.publish({ region: "second" });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const clock = quickClock();
    const lines: MirrorLine[] = [];
    const before = await mirrorOf([node], folder, { clock });
    await untilRevision(before, 2);
    await before.stop();
    const files = filesOf(folder);
    published.point({ ...numbers, digest });
    const mirror = await begin(context, mirrorOf([node], folder, { clock, lines }));
    const told = () => failuresIn(lines).filter((line) => line.includes(why));
    await until(() => told().length > 0, why);
    expect(told()).toEqual([
      expect.stringMatching(
        /This edge keeps its table\. .*stop the edge, empty its --state folder, and start it again\.$/,
      ),
    ]);
    expect(filesOf(folder)).toEqual(files);
    expect(mirror.status()).toMatchObject({ revision: 2, change: 2 });
    expect(mirror.status().lastError).toContain(why);
    published.point({ revision: 3, change: 3, digest });
    await untilRevision(mirror, 3);
    await until(() => mirror.status().lastError === undefined, "no error");
  });

  it.concurrent("that is gone leaves the table, and says what to do", async (context) => {
    const published = new Published();
    published.publish({});
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const clock = quickClock();
    const first = await mirrorOf([node], folder, { clock });
    await untilRevision(first, 1);
    await first.stop();
    published.point(undefined);
    // A wait takes 20 s here: the clock is of the mirror alone.
    node.fault = (path) => (path === "pointer" ? "missing" : undefined);
    published.publish({});
    const mirror = await begin(context, mirrorOf([node], folder, { clock }));
    await until(() => mirror.status().lastError?.includes("nothing is published there") === true, "a word of it");
    expect(revisionIn(folder)).toBe(1);
  });

  it.concurrent("brings its canary's table, and is then the only one", async (context) => {
    const published = new Published();
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([node], folder));
    const pack = await makePack({ ranges: 200, rangesPerPage: 100 });
    const { digest, canary } = published.publish({ canary: { region: "first", pack } });
    await untilRevision(mirror, 1);
    const files = filesOf(folder);
    for (const key of [bodyKey(digest), bodyKey(canary?.digest ?? ""), packKey(pack.sha256), pageKey(pack.sha256, 1)]) {
      expect(files).toHaveProperty([key]);
    }
    node.asked.length = 0;
    published.point({ revision: 3, change: 5, digest: canary?.digest ?? "" });
    await untilRevision(mirror, 3);
    expect(node.asked).toEqual([]);
  });

  it.concurrent("of a table that is overtaken while it is read leads to the newer one", async (context) => {
    const published = new Published();
    published.publish({});
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([node], folder));
    await untilRevision(mirror, 1);
    let isOvertaken = false;
    const next = published.publish({ region: "first" });
    node.fault = (key) => {
      if (key !== bodyKey(next.digest)) return undefined;
      published.values.delete(key);
      if (!isOvertaken) published.publish({ region: "second" });
      isOvertaken = true;
      return "missing";
    };
    await untilRevision(mirror, 3);
    expect(await wholeTable(readIn(folder))).toEqual([3, 3]);
  });

  it.concurrent("of a table that this version cannot serve is refused, unless a form of it is there", async (context) => {
    const published = new Published();
    published.publish({ withoutForm: true });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([node], folder));
    await untilRevision(mirror, 1);
    published.publish({ mark: "not a name", withoutForm: true });
    await until(() => mirror.status().lastError?.includes("Upgrade this edge") === true, "a refusal");
    expect(revisionIn(folder)).toBe(1);
    published.publish({ mark: "not a name" });
    await untilRevision(mirror, 3);
  });
});

describe("values", () => {
  it.concurrent("that a former pack has are not read again", async (context) => {
    const published = new Published();
    const packs = [];
    for (const region of ["first", "second"]) packs.push(await makePack({ ranges: 1000, rangesPerPage: 100, region }));
    const [before, after] = packs;
    published.publish({ pack: before });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([node], folder));
    await untilRevision(mirror, 1);
    node.asked.length = 0;
    published.publish({ pack: after });
    await untilRevision(mirror, 2);
    const changed = (after?.pages ?? []).flatMap((page, at) =>
      Buffer.compare(page, before?.pages[at] ?? page) === 0 ? [] : [pageKey(after?.sha256 ?? "", at)],
    );
    expect(changed).toHaveLength(1);
    expect(node.asked.filter((key) => key.startsWith("pack.")).sort()).toEqual([
      packKey(after?.sha256 ?? ""),
      ...changed,
    ]);
    expect(statSync(join(folder, pageKey(after?.sha256 ?? "", 0))).nlink).toBe(2);
    expect(await wholeTable(readIn(folder))).toEqual([2, 2]);
  });

  it.concurrent("come at once although another node is silent", async (context) => {
    const published = new Published();
    published.publish({});
    const nodes = [];
    for (let at = 0; at < 3; at++) nodes.push(await begin(context, startStateNode(published, tls)));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf(nodes, folder));
    await untilRevision(mirror, 1);
    for (const silent of nodes.slice(0, 2)) silent.fault = () => "silent";
    for (const region of ["first", "second"]) {
      const { revision } = published.publish({ region });
      const beganAtMs = Date.now();
      await untilRevision(mirror, revision);
      // A silent node costs the first publication its deadline, and later ones nothing.
      expect(Date.now() - beganAtMs).toBeLessThan(region === "first" ? 8_000 : 1_400);
    }
  });

  it.concurrent("that were removed from outside come again", async (context) => {
    const published = new Published();
    const { digest } = published.publish({});
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const clock = quickClock();
    const mirror = await begin(context, mirrorOf([node], folder, { clock }));
    await untilRevision(mirror, 1);
    rmSync(join(folder, bodyKey(digest)));
    // The next look at the files is due.
    clock.aheadMs += 700_000;
    await until(() => mirror.status().lastError?.includes("not whole") === true, "the loss is seen");
    // An open poll ends with any change.
    published.publish({ region: "first" });
    await untilRevision(mirror, 2);
    expect(await wholeTable(readIn(folder))).toEqual([2, 2]);
  });

  it.concurrent("that nothing references are deleted after a day, over restarts", async (context) => {
    const published = new Published();
    const pack = await makePack({ ranges: 200, rangesPerPage: 100 });
    published.publish({ pack, directories: ["slug"] });
    await published.putCopy("slug", { a: "first" });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const clock = quickClock();
    let mirror = await mirrorOf([node], folder, { clock });
    await until(() => existsSync(join(folder, "directory.slug.current")), "a copy");
    const former = Object.keys(filesOf(folder)).filter((key) => key !== "table.current");
    const { digest } = published.publish({ region: "first" });
    appendFileSync(join(folder, "notes.txt"), "an operator's");
    await untilRevision(mirror, 2);
    const unreferenced = join(folder, ".mirror", "unreferenced.json");
    const restart = async () => {
      await mirror.stop();
      mirror = await mirrorOf([node], folder, { clock });
    };
    await restart();
    await until(() => existsSync(unreferenced), "a first look");
    const hourMs = 3_600_000;
    clock.aheadMs += 23 * hourMs;
    await restart();
    for (const key of former) expect(Object.keys(filesOf(folder))).toContain(key);
    clock.aheadMs += 2 * hourMs;
    await restart();
    const left = ["notes.txt", "table.current", bodyKey(digest), formKey(digest, CODE_VERSION)].sort();
    await until(() => Object.keys(filesOf(folder)).length <= left.length, "deleted");
    expect(Object.keys(filesOf(folder))).toEqual(left);
    await until(() => readFileSync(unreferenced, "utf8") === "{}", "forgotten");
    await mirror.stop();
  });
});

describe("a directory's copy", () => {
  it.concurrent("is renewed and removed without a change of the table", async (context) => {
    const published = new Published();
    published.publish({ directories: ["slug"] });
    const node = await begin(context, startStateNode(published, tls));
    const folder = newFolder();
    const mirror = await begin(context, mirrorOf([node], folder, { clock: quickClock() }));
    await mirror.first;
    expect(await wholeCopy(readIn(folder), "slug")).toBeUndefined();
    for (const count of [1, 20_000]) {
      const rows = Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, "first"]));
      const { digest, pages } = await published.putCopy("slug", rows);
      expect(pages > 1).toBe(count > 1);
      const pointer = join(folder, "directory.slug.current");
      await until(() => existsSync(pointer) && readFileSync(pointer, "utf8") === digest, "a copy");
      expect(await wholeCopy(readIn(folder), "slug")).toBe(digest);
    }
    const last = await wholeCopy(readIn(folder), "slug");
    node.fault = (key) => (key.startsWith("directory-copy.") ? "wrong" : undefined);
    await published.putCopy("slug", { other: "second" });
    await until(() => mirror.status().lastError?.startsWith("copy slug") === true, "a failure");
    expect(await wholeCopy(readIn(folder), "slug")).toBe(last);
    node.fault = undefined;
    published.removeCopy("slug");
    await until(() => !existsSync(join(folder, "directory.slug.current")), "removed");
    await until(() => mirror.status().lastError === undefined, "no error");
  });

  it.concurrent("is neither taken from a node with an older table, nor removed by its word", async (context) => {
    const [published, former] = [new Published(), new Published()];
    former.publish({ directories: ["slug"] });
    published.publish({ directories: ["slug"] });
    published.publish({ directories: ["slug"], region: "first" });
    const { digest } = await published.putCopy("slug", { a: "first" });
    const node = await begin(context, startStateNode(published, tls));
    const stale = await begin(context, startStateNode(former, tls));
    const folder = newFolder();
    const lines: MirrorLine[] = [];
    await begin(context, mirrorOf([stale, node], folder, { clock: quickClock(), lines }));
    const pointer = join(folder, "directory.slug.current");
    await until(() => existsSync(pointer), "a copy");
    node.fault = (key) => (key === "directory.slug.current" ? "failed" : undefined);
    const isFailed = (line: MirrorLine) => line.event === "mirror-failed" && line.source === "copy slug";
    await until(() => lines.some(isFailed), "a failure");
    for (const _ of Array.from({ length: 2 })) {
      const asked = node.asked.length;
      await until(() => node.asked.length > asked + 1, "another try");
      expect(await wholeCopy(readIn(folder), "slug")).toBe(digest);
      await former.putCopy("slug", { a: "second" });
    }
  });
});

describe("state nodes", () => {
  it.concurrent("hear of the edge", async (context) => {
    const published = new Published();
    published.publish({});
    const node = await begin(context, startStateNode(published, tls));
    const mirror = await begin(context, mirrorOf([node], newFolder()));
    await untilRevision(mirror, 1);
    published.publish({ region: "first" });
    const report = () => node.reports.get("edge-1") as { readonly revision: number } | undefined;
    await until(() => report()?.revision === 2, "a report");
    expect(report()).toEqual({
      name: "edge-1",
      version: "1.0.0",
      processes: 2,
      revision: 2,
      change: 2,
      ageMs: expect.any(Number),
      node: node.address,
      silent: [],
    });
  });

  it.concurrent("are trusted by the authority in the folder, which may be renewed", async (context) => {
    const published = new Published();
    published.publish({});
    const node = await begin(context, startStateNode(published, tls));
    const own = join(newCertificates(), "edge");
    const mirror = await begin(context, mirrorOf([node], newFolder(), { tls: own }));
    await until(() => mirror.status().lastError !== undefined, "a refusal");
    expect(mirror.status().revision).toBeUndefined();
    for (const name of ["ca.pem", "cert.pem", "key.pem"]) {
      cpSync(join(tls, "edge", name), join(own, `new-${name}`));
      renameSync(join(own, `new-${name}`), join(own, name));
    }
    await untilRevision(mirror, 1);
  });
});
