import type { CopyHeader } from "../../../features/directory/table/copy-format.ts";
import type { PackHeader } from "../../../features/packs/table/decode.ts";
import type { DeclaredPack } from "../../../features/packs/table/schema.ts";
import { loadTableText } from "../../../routing/index.ts";
import { MirrorFailure } from "./nodes.ts";
import { bodyPart, copyHeaderPart, copyPageParts, formPart, packHeaderPart, packPagePart } from "./parts.ts";
import { type Publication, type References, referencesOf } from "./references.ts";
import type { Supplied, Supply } from "./supply.ts";

export interface Gathered {
  readonly packs: readonly DeclaredPack[];
  readonly directories: readonly string[];
  /** Tables that this build has to check where they are loaded. */
  readonly withoutForm: readonly string[];
}

/**
 * Puts everything into the folder to which a pointer leads, leaves first: pages, headers, forms, then the texts of the tables.
 * `codeVersion`: of the forms that the Worker of this edge reads.
 */
export async function gatherTables(
  { digests }: Publication,
  supply: Supply,
  codeVersion: string | undefined,
): Promise<Gathered> {
  const bodies: Supplied[] = [];
  const withForm = new Set<string>();
  const firsts = digests.flatMap((digest) => [
    async () => bodies.push(await supply.value(bodyPart(digest))),
    async () => {
      if (codeVersion !== undefined && (await supply.bringIfThere(formPart(digest, codeVersion)))) withForm.add(digest);
    },
  ]);
  await supply.each(firsts, (work) => work());
  const references = bodies.map(({ bytes }) => referencesOf(bytes));
  const packs = packsOf(references);
  for (const pack of packs) await gatherPack(pack, supply);
  const withoutForm = digests.filter((digest) => !withForm.has(digest));
  for (const body of bodies) {
    // The state nodes may run a later version, of which this edge would serve nothing.
    if (body.isNew && withoutForm.includes(body.part.digest ?? "")) refuseUnreadable(body);
    await supply.keep(body);
  }
  return { packs, directories: [...new Set(references.flatMap(({ directories }) => directories))], withoutForm };
}

/** Each once: a canary often has the packs of the table in force. */
const packsOf = (references: readonly References[]): readonly DeclaredPack[] => [
  ...new Map(references.flatMap(({ packs }) => packs.map((pack) => [JSON.stringify(pack), pack]))).values(),
];

async function gatherPack(declared: DeclaredPack, supply: Supply): Promise<void> {
  let header: PackHeader | undefined;
  const hold = (read: PackHeader): void => {
    header = read;
  };
  const supplied = await supply.value(packHeaderPart(declared, hold));
  await supply.each(header?.pages ?? [], (page) => supply.bring(packPagePart(declared.sha256, page)));
  await supply.keep(supplied);
}

/** The header and all pages of a directory's copy. */
export async function gatherCopy(directory: string, digest: string, supply: Supply): Promise<void> {
  let header: CopyHeader | undefined;
  const hold = (read: CopyHeader): void => {
    header = read;
  };
  const supplied = await supply.value(copyHeaderPart(directory, digest, hold));
  await supply.each(header === undefined ? [] : copyPageParts(digest, header), (page) => supply.bring(page));
  await supply.keep(supplied);
}

function refuseUnreadable({ part, bytes }: Supplied): void {
  const table = loadTableText(Buffer.from(bytes).toString("utf8"), 1);
  if (table.ok) return;
  const [fault] = table.error;
  const why = `${part.key} is a table that this version of Waybill cannot serve (${fault?.message ?? "no reason"})`;
  throw new MirrorFailure("refused", `${why}. Upgrade this edge to the version of the state nodes.`);
}
