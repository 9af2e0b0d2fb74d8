import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder of this run: `packOnce` packs into it. */
    readonly packedFolder: string;
  }
}

export default function providePackedFolder(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "waybill-packed-"));
  project.provide("packedFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
