import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** HTTP clients as people have them. Those that are not on this machine are skipped by their names. */

export interface Client {
  readonly name: string;
  /** A request whose body comes in pieces. 0 bytes: none. */
  readonly ask: (method: string, url: string, bytes: number) => Promise<string>;
}

export interface Clients {
  readonly found: readonly Client[];
  readonly missing: readonly string[];
}

const PIECES = 10;
const PAUSE_MS = 60;
const PATIENCE_MS = 40_000;

const programAt = (file: string): string => fileURLToPath(new URL(`programs/${file}`, import.meta.url));
const succeeds = (program: string, args: readonly string[], cwd?: string): boolean =>
  spawnSync(program, args, { cwd, stdio: "ignore", timeout: 120_000 }).status === 0;

/** `STATUS BODY`, or the last line of what went wrong. */
const run = (program: string, args: readonly string[], cwd?: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, [...args], { cwd, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      const failure = stderr.trim().split("\n").at(-1) ?? "";
      resolve(error !== null && stdout.trim() === "" ? `failed: ${failure || error.message}` : stdout.trim());
    });
  });

const slowly = (bytes: number) => [String(bytes), String(PIECES), String(PAUSE_MS)];

const curl = (name: string, ...more: readonly string[]): Client => ({
  name,
  ask(method, url, bytes) {
    const upload = bytes === 0 ? [] : ["--limit-rate", "50k", "--data-binary", `@${bodyFile(bytes)}`];
    return run("curl", ["-sS", ...more, "-X", method, ...upload, "-w", "\n%{http_code}", url]).then((text) => {
      const [status, ...body] = text.split("\n").toReversed();
      return text.startsWith("failed") ? text : `${status} ${body.toReversed().join("\n").trim()}`.trim();
    });
  },
});

/** It cannot send slowly, so it sends more than sockets hold. */
const WGET_BYTES = 900_000;
const wget: Client = {
  name: "wget",
  async ask(method, url, bytes) {
    const upload = bytes === 0 ? [] : [`--body-file=${bodyFile(WGET_BYTES)}`];
    // wget keeps no content of a 401, but says the status on its way.
    const content = join(folder, "wget");
    const flags = ["-nv", "-S", "--tries=1", "--content-on-error", "-O", content, "--max-redirect=0"];
    const said = await run("sh", ["-c", 'wget "$@" 2>&1; true', "", ...flags, `--method=${method}`, ...upload, url]);
    const status = /^\s*HTTP\/1\.\d (\d{3})/m.exec(said)?.[1];
    return status === undefined ? `failed: ${said}` : `${status} ${readFileSync(content, "utf8")}`.trim();
  },
};

let folder: string;
const bodyFile = (bytes: number): string => {
  const path = join(folder, `body-${bytes}`);
  if (!existsSync(path)) writeFileSync(path, "x".repeat(bytes));
  return path;
};

const NPM = { got: "16.1.0", ky: "2.1.0", undici: "8.13.1" } as const;
const JARS = "/usr/share/java/okhttp.jar:/usr/share/java/okio.jar";

/** Looks for each, compiles and installs what it takes, in a temporary folder. */
export function findClients(): Clients & { readonly stop: () => void } {
  folder = mkdtempSync(join(tmpdir(), "waybill-clients-"));
  const found: Client[] = [];
  const missing: string[] = [];
  const take = (isHere: boolean, ...clients: readonly Client[]) => {
    if (isHere) found.push(...clients);
    else missing.push(...clients.map(({ name }) => name));
  };
  take(succeeds("curl", ["--version"]), curl("curl"), curl("curl --http2", "--http2"));
  take(succeeds("wget", ["--version"]), wget);

  const java = (name: string, classPath: string): Client => ({
    name,
    ask: (method, url, bytes) => run("java", ["-cp", `${folder}:${classPath}`, name, method, url, ...slowly(bytes)]),
  });
  const compiles = (name: string, classPath: string) =>
    succeeds("javac", ["-cp", classPath, "-d", folder, programAt(`${name}.java`)]);
  take(compiles("NetHttp", folder), java("NetHttp", folder));
  take(existsSync(JARS.split(":")[0] ?? "") && compiles("OkHttp", JARS), java("OkHttp", JARS));

  for (const name of ["httpx", "aiohttp"]) {
    // Debian's packages belong to its own Python.
    const python = ["python3", "/usr/bin/python3"].find((each) => succeeds(each, ["-c", `import ${name}`]));
    take(python !== undefined, {
      name,
      ask: (method, url, bytes) => run(python ?? "", [programAt("client.py"), name, method, url, ...slowly(bytes)]),
    });
  }

  const packages = join(folder, "npm");
  mkdirSync(packages);
  copyFileSync(programAt("client.mjs"), join(packages, "client.mjs"));
  const wanted = Object.entries(NPM).map(([name, version]) => `${name}@${version}`);
  const npm = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", packages, ...wanted];
  const ofNpm = (name: string): Client => ({
    name,
    ask: (method, url, bytes) => run(process.execPath, ["client.mjs", name, method, url, ...slowly(bytes)], packages),
  });
  take(succeeds("npm", npm, packages), ...Object.keys(NPM).map(ofNpm));
  take(true, ofNpm("fetch"));
  return { found, missing, stop: () => rmSync(folder, { recursive: true, force: true }) };
}
