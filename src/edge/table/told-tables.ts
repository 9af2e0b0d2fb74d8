import type { Pointer } from "../../formats/kv.ts";

/** Tables in memory that take a pointer from the object that has written it to KV. */
export interface ToldTables {
  tell(pointer: Pointer): Promise<void>;
}

/**
 * The object that publishes often runs in an isolate that serves requests: always where one process is the gateway, by chance on
 * Cloudflare. There it tells the tables in memory. Other isolates see the change when they next read KV.
 */
let told: ToldTables | undefined;
let isObjectHere = false;

/** The object of this isolate tells these tables, of which an isolate has one. */
export function tellFromNowOn(tables: ToldTables): void {
  told = tables;
}

/** How an object of this isolate tells. From now on changes are awaited here. */
export function teller(): (pointer: Pointer) => void {
  isObjectHere = true;
  return (pointer) => void told?.tell(pointer);
}

/** Whether the object was ever in this isolate. */
export const isToldHere = (): boolean => isObjectHere;
