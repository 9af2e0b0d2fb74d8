import { InvalidArgumentError } from "commander";
import { isoTime, type Layout, type TextForm } from "../../ids/index.ts";
import { type ColumnFault, engineOf, recommendedType, storeColumn } from "../../ids/stores/column.ts";
import { ENGINE_NAMES, type EngineName } from "../../ids/stores/engine.ts";
import { sortsByTime } from "../../ids/stores/order.ts";
import type { StorePeriodError } from "../../ids/stores/period.ts";
import { conversionsFrom } from "../commands/explain/without-table.ts";
import { oneOf } from "./input.ts";
import { escapeControls } from "./output.ts";

/** Words for columns of engines. */

export const ENGINES = ENGINE_NAMES.join(", ");

const lowerEngine = oneOf(ENGINE_NAMES, `It must be one of ${ENGINES}.`);

export const engineName = Object.assign((text: string): EngineName => lowerEngine(text.toLowerCase()), {
  names: ENGINE_NAMES,
});

/** Parts as a statement has them: plain names, or names in the quotes of an engine. */
const COLUMN =
  /^(?:[A-Za-z_][\w$]*|"[^"\0]+"|`[^`\0]+`|\[[^\]\0]+\])(?:\.(?:[A-Za-z_][\w$]*|"[^"\0]+"|`[^`\0]+`|\[[^\]\0]+\]))*$/;

/** A key of Redis may have colons and braces. */
const KEY = /^[\w$.:{}-]+$/;

export const columnName = (text: string): string => {
  if (COLUMN.test(text) || KEY.test(text)) return text;
  throw new InvalidArgumentError('Write the column as a statement has it, such as id, o.id or "orderId".');
};

/** Why a column cannot hold the IDs, without the remedy. */
export const faultSentence = (fault: ColumnFault, layout: Layout): string => {
  switch (fault.reason) {
    case "unknown-type":
      return `${fault.engine} has no column type "${escapeControls(fault.type)}" that Waybill knows.`;
    case "rounds":
      return `${fault.type} rounds to 53 bits, and an ID of ${layout.name} has more: neighbours become equal.`;
    case "guesses":
      return `SQLite takes ${fault.type} as numeric: an ID that reads as a number is stored as one, rounded or as Infinity.`;
    case "opaque":
      return `${fault.type} has no order of IDs.`;
    case "not-16-bytes":
      return `${fault.type} holds 16 bytes, and an ID of ${layout.name} has ${fault.bytes}.`;
    case "byte-count":
      return `${fault.type} does not hold the ${fault.bytes} bytes of an ID of ${layout.name}: other lengths are cut or padded.`;
    case "no-number":
      return `An ID of ${fault.layout} has no decimal text, so ${fault.type} is not its column.`;
    case "too-great":
      return fault.firstMs === undefined
        ? `IDs of ${layout.name} exceed ${fault.type}.`
        : `IDs of ${layout.name} exceed ${fault.type} from ${isoTime(fault.firstMs)} on.`;
    case "too-long":
      return `${fault.type} is too short: ${fault.text} of ${layout.name} has ${fault.length} characters.`;
    case "caseless":
      return `${fault.type} takes capitals and small letters as equal: IDs of ${layout.name} in ${fault.text} merge, and sort otherwise.`;
    case "refused-uuids": {
      const which =
        fault.values === undefined
          ? `${fault.share === "all" ? "all" : "some"} IDs of ${layout.name}`
          : `every ${layout.name} of ${fault.values.field}s 0 to ${fault.values.last}`;
      return `MariaDB's UUID refuses ${which}: version 8 to f with byte 8 from 01 to 80. As a bound they are NULL; sent as 16 bytes, they become other IDs.`;
    }
  }
};

/** Why no condition of a period is right. `undefined`: it is not the column's fault. */
export const columnRefusal = (
  error: StorePeriodError,
  layout: Layout,
  name: EngineName,
  form: TextForm | undefined,
): string | undefined => {
  switch (error.reason) {
    case "no-period":
    case "no-time":
    case "no-id":
    case "no-time-order":
    case "no-text-order":
      return undefined;
    case "no-column-order":
      return `${orderSentence(error.type, error.why, layout, name)} ${remedy(layout, name, form)}`;
    default:
      return `${faultSentence(error, layout)} ${remedy(layout, name, form)}`;
  }
};

const orderSentence = (type: string, why: "bits" | "texts" | "mixed", layout: Layout, name: EngineName): string => {
  const { title } = engineOf(name);
  switch (why) {
    case "texts":
      return `${type} of ${title} does not sort texts of ${layout.name} by time.`;
    case "mixed":
      return `${title} stores some IDs of ${layout.name} in reverse in a ${type}: they do not sort by time.`;
    case "bits":
      return `IDs of ${layout.name} do not sort by time in ${type} of ${title}.`;
  }
};

/** The column that is right, or the layout with the same bits that has one. */
const remedy = (layout: Layout, name: EngineName, form: TextForm | undefined): string => {
  const types = [recommendedType(engineOf(name), layout), ...engineOf(name).others];
  const right = types.find((type) => isOrdered(layout, name, type));
  if (right !== undefined) return `Use ${right}${form === undefined ? "" : ", without --text"}.`;
  const other = conversionsFrom(layout.name).find(({ to }) => sortsByTime(to, "bits"));
  return other === undefined
    ? "No column of it does: keep the time in a column of its own."
    : `Store ${other.to.name} instead: \`waybill id convert --to ${other.to.name} ID\`.`;
};

const isOrdered = (layout: Layout, name: EngineName, type: string): boolean => {
  const column = storeColumn(name, layout, { type });
  return column.ok && column.value.order !== undefined && sortsByTime(layout, column.value.order);
};
