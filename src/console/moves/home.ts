import { computed } from "@preact/signals";
import { gatewayNow } from "../app/clock.ts";
import { knownTable } from "../app/session.ts";
import { readOne } from "../lookup/read-pasted.ts";
import type { Reader } from "../lookup/reader.ts";
import { readerOfTable } from "../lookup/table-reader.ts";

/** The table without the entities that it names one by one: it is compiled once for each revision. */
const byRoutes = computed((): Reader | undefined => {
  const known = knownTable.value;
  return known && readerOfTable({ ...known.declared, moved: {}, moves: {}, gone: {} }, known.revision);
});

/** The region that the routes alone say. */
export function homeOf(text: string): string | undefined {
  const reader = byRoutes.value;
  return reader?.read(readOne(text, reader), gatewayNow()).decision?.region;
}
