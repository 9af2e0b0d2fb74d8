import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import type { Packed } from "./packed.ts";

/** A registry that has the packed packages, and sends npm to the registry that it is configured with for all others. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** Has these versions of them from now on, each package's last one as its `latest`. */
  hold(packages: readonly Packed[]): void;
}

const integrityOf = (bytes: Buffer): string => `sha512-${createHash("sha512").update(bytes).digest("base64")}`;

export async function openRegistry(): Promise<Registry> {
  const others = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const documents = new Map<
    string,
    { name: string; versions: Record<string, object>; "dist-tags": { latest: string } }
  >();
  const tarballs = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    const document = documents.get(path);
    const body = document === undefined ? tarballs.get(path) : JSON.stringify(document);
    if (body !== undefined) return response.end(body);
    return response.writeHead(302, { location: new URL(request.url?.slice(1) ?? "", others).href }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    hold(packages) {
      documents.clear();
      for (const { manifest, tarball } of packages) {
        const { name, version } = manifest;
        const bytes = readFileSync(tarball);
        const path = `-/tarballs/${basename(tarball)}`;
        tarballs.set(path, bytes);
        const dist = { tarball: `${url}${path}`, integrity: integrityOf(bytes) };
        const versions = { ...documents.get(name)?.versions, [version]: { ...manifest, dist } };
        documents.set(name, { name, versions, "dist-tags": { latest: version } });
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
