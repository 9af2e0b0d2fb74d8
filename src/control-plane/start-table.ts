import { START_FILE, type StartFile, TABLE_FILE } from "../formats/start-table.ts";

/** A table that the start of a self-hosted gateway hands over, in a folder that only this start has. */
export interface StartTable extends StartFile {
  readonly bytes: Bytes;
  readonly readFile: ReadFile;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** A file of the folder by its name; `undefined` if there is none. */
export type ReadFile = (name: string) => Promise<Bytes | undefined>;

export async function readStartTable(folder: Pick<Fetcher, "fetch">): Promise<StartTable> {
  const readFile: ReadFile = async (name) => {
    const response = await folder.fetch(`http://start-table/${name}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return response.ok ? bytes : undefined;
  };
  const [start, bytes] = await Promise.all([readFile(START_FILE), readFile(TABLE_FILE)]);
  if (start === undefined || bytes === undefined) throw new Error("the folder of the start is incomplete");
  const { id, isFirst } = JSON.parse(new TextDecoder().decode(start)) as StartFile;
  return { id, isFirst, bytes, readFile };
}
