import { createHash } from "node:crypto";
import { CopyBuilder } from "../../../../src/features/directory/table/copy-builder.ts";
import * as copies from "../../../../src/features/directory/table/copy-format.ts";
import { type EncodedPack, encodePack } from "../../../../src/features/packs/table/format.ts";
import { packKey, pageKey } from "../../../../src/features/packs/table/pack.ts";
import { bodyKey, formatPointer, formKey, POINTER_KEY, type Pointer } from "../../../../src/formats/kv.ts";
import { pointerTag } from "../../../../src/formats/machines.ts";

export const CODE_VERSION = "0123456789abcdef";

export const hexOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const sha256 = (bytes: Uint8Array) => Promise.resolve(createHash("sha256").update(bytes).digest());

export interface TableOptions {
  /** Where requests go that no pack and no directory sends elsewhere. */
  readonly region?: string;
  readonly pack?: EncodedPack | undefined;
  readonly directories?: readonly string[];
  readonly origins?: Readonly<Record<string, string>>;
  /** Some text that makes it another table. */
  readonly mark?: string;
}

const REGIONS = ["first", "second", "rest"];

/** A table with a region for each answer that a test tells apart. */
export function tableText({ region = "rest", pack, directories = [], origins = {}, mark = "" }: TableOptions): string {
  const url = (name: string) => origins[name] ?? `http://127.0.0.1:9/${name}`;
  const regions = Object.fromEntries(REGIONS.map((name) => [name, { origins: [{ url: url(name) }] }]));
  const named = Object.fromEntries(directories.map((name) => [name, { key: { text: "lower" } }]));
  const packs = pack && {
    shards: { sha256: pack.sha256, bytes: pack.bytes, ranges: pack.ranges, bits: 32, regions: pack.regions },
  };
  return JSON.stringify({
    regions,
    entities: {
      parcel: { path: "/parcels/:id", ids: [{ layout: "hotguid" }] },
      ...Object.fromEntries(directories.map((name) => [name, { path: `/${name}/:id`, directory: name }])),
      ...(mark && { [mark]: { path: `/${mark}/:id`, ids: [{ layout: "uuid-v4" }] } }),
    },
    ...(directories.length > 0 && { directory: named }),
    ...(packs && { packs }),
    routes: packs ? [{ when: { layout: "hotguid" }, pack: "shards" }] : [],
    default: region,
  });
}

export interface PackOptions {
  readonly ranges: number;
  readonly rangesPerPage?: number;
  /** The region of one range; the others never change. */
  readonly region?: string;
  /** By default the one in the middle. */
  readonly flipped?: number;
}

export async function makePack({
  ranges,
  rangesPerPage,
  region = "first",
  flipped = ranges >> 1,
}: PackOptions): Promise<EncodedPack> {
  const regionOf = (at: number) => (at === flipped ? region : at % 2 === 0 ? "first" : "second");
  const all = Array.from({ length: ranges }, (_, at) => ({ from: at * 50, to: at * 50 + 9, region: regionOf(at) }));
  const options = { fieldBits: 32, sha256, ...(rangesPerPage && { rangesPerPage }) };
  const encoded = await encodePack(all, options);
  if (!encoded.ok) throw new Error(encoded.error.reason);
  return encoded.value;
}

/** KV as state nodes have it, and the pointer of the control plane. */
export class Published {
  readonly values = new Map<string, Uint8Array>();
  pointer: Pointer | undefined;
  #changed: (() => void)[] = [];

  /** A table and its parts, then the pointer. */
  publish(options: TableOptions & { readonly canary?: TableOptions; readonly withoutForm?: boolean }): Pointer {
    const { canary, withoutForm = false } = options;
    const digest = this.#put(options, withoutForm);
    const { revision = 0, change = 0 } = this.pointer ?? {};
    const own: Pointer = { revision: revision + 1, change: change + 1, digest };
    const audience = { share: { percent: 5, salt: "a" } } as unknown as NonNullable<Pointer["canary"]>["audience"];
    const next = canary && { revision: revision + 2, digest: this.#put(canary, withoutForm), audience };
    this.point(next === undefined ? own : { ...own, canary: next });
    return this.pointer as Pointer;
  }

  point(pointer: Pointer | undefined): void {
    this.pointer = pointer;
    if (pointer === undefined) this.values.delete(POINTER_KEY);
    else this.#set(POINTER_KEY, formatPointer(pointer));
    for (const wake of this.#changed.splice(0)) wake();
  }

  get tag(): string | undefined {
    return this.pointer && pointerTag(this.pointer);
  }

  get text(): string {
    return this.pointer === undefined ? "" : formatPointer(this.pointer);
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  async putCopy(directory: string, rows: Readonly<Record<string, string>>, builtAtMs = 1_800_000_000_000) {
    const builder = new CopyBuilder(createHash("md5").update(JSON.stringify(rows)).digest());
    for (const [key, region] of Object.entries(rows)) builder.add(key, region);
    const built = await builder.build({ directory, builtAtMs, sha256 });
    if (!built.ok) throw new Error(built.error.reason);
    const { sha256: digest, header, pages } = built.value;
    for (const [page, bytes] of pages.entries()) this.values.set(copies.copyPageKey(digest, page), bytes);
    this.values.set(copies.copyKey(digest), header);
    this.#set(copies.copyPointerKey(directory), digest);
    return { digest, pages: pages.length };
  }

  removeCopy(directory: string): void {
    this.values.delete(copies.copyPointerKey(directory));
  }

  #put(options: TableOptions, withoutForm: boolean): string {
    const { pack } = options;
    for (const [page, bytes] of (pack?.pages ?? []).entries())
      this.values.set(pageKey(pack?.sha256 ?? "", page), bytes);
    if (pack !== undefined) this.values.set(packKey(pack.sha256), pack.header);
    const text = tableText(options);
    const digest = hexOf(text);
    // As long as its head says; no Worker of a test here opens it.
    if (!withoutForm) this.values.set(formKey(digest, CODE_VERSION), new Uint8Array(40));
    this.#set(bodyKey(digest), text);
    return digest;
  }

  #set(key: string, text: string): void {
    this.values.set(key, new Uint8Array(Buffer.from(text)));
  }
}
