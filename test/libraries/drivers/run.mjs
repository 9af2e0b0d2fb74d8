import { json } from "node:stream/consumers";
import { opaque } from "./opaque.mjs";
import { snowflakes } from "./snowflakes.mjs";
import { sortable } from "./sortable.mjs";
import { uuids } from "./uuids.mjs";

/**
 * Runs one library in a process of its own: `node run.mjs NAME`, with a JSON list of Waybill's IDs as standard input. Prints
 * the library's IDs, and the fields that it decodes of both.
 *
 * A driver has `make` (an ID), and where the library can: `read` (whether it accepts a text; false or an error: no), `decode`
 * (fields by Waybill's names, times in ms), `uuid` (the UUID that a text stands for). `known`: fields that the driver set itself. `atMake`: fields that
 * hold for an ID that is made now.
 */

const COUNT = 200;
const drivers = { ...uuids, ...sortable, ...snowflakes, ...opaque };

const [name = ""] = process.argv.slice(2);
const { make, decode, uuid, read = uuid, known = {}, atMake } = await drivers[name]();
const ours = await json(process.stdin);

const fieldsOf = (text) => ({
  ...decode?.(text),
  ...(uuid && { bits: BigInt(`0x${String(uuid(text)).replaceAll("-", "")}`) }),
});

const readOne = (text) => {
  try {
    const found = read(text);
    if (found === false || found === undefined || found === null) return { text, refused: String(found) };
    return { text, fields: fieldsOf(text) };
  } catch (error) {
    return { text, refused: String(error) };
  }
};

const fromMs = Date.now();
const made = [];
while (made.length < COUNT) {
  const before = atMake?.();
  const text = String(await make());
  // The clock may have gone on between the two.
  if (JSON.stringify(before) === JSON.stringify(atMake?.())) made.push({ text, before });
}
const toMs = Date.now();

const report = {
  fromMs,
  toMs,
  known,
  made: made.map(({ text, before }) => ({ text, fields: { ...before, ...fieldsOf(text) } })),
  read: read && ours.map(readOne),
};
// Some libraries keep timers that never end.
process.stdout.write(
  JSON.stringify(report, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
  () => process.exit(),
);
