import { documentPathOf } from "./document-path.ts";
import type { RunningOrigins } from "./origins.ts";
import type { Sample } from "./sample.ts";

/** Stores an entity for each sample, in the one region that owns it. */
export function seedOrigins(origins: RunningOrigins, samples: readonly Sample[]): void {
  for (const { entity, id, region, path, about } of samples) {
    const documentPath = documentPathOf(path);
    if (documentPath === undefined) throw new Error(`the demo's origins keep nothing at ${path}`);
    origins.of(region).store.write(documentPath, { id, kind: entity, region, about });
  }
}
