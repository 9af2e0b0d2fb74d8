import type { PackFault } from "./format.ts";

/** What is wrong with a pack, in one sentence that ends without a full stop. */
export const formatPackFault = (fault: PackFault): string => {
  switch (fault.reason) {
    case "empty":
      return "it has no range";
    case "too-many-ranges":
      return `it has more than ${fault.max} ranges`;
    case "field-bits":
      return `its field has ${fault.bits} bits; a pack is of a field of 1 to ${fault.max}`;
    case "region-name":
      return `range ${fault.at} has the region ${JSON.stringify(fault.region)}, which is no name`;
    case "too-many-regions":
      return `it names more than ${fault.max} regions`;
    case "reversed":
      return `range ${fault.at} ends at ${fault.to}, before it begins at ${fault.from}`;
    case "beyond-field":
      return `range ${fault.at} has the key ${fault.key}; a key of its field is a whole number from 0 to ${fault.max}`;
    case "unsorted":
      return `range ${fault.at} begins at ${fault.from}, and a range before it ends at ${fault.before}: they are not sorted`;
    case "overlapping":
      return `range ${fault.at} begins at ${fault.from}, and the one before it ends at ${fault.before}: they overlap`;
    case "unknown-region":
      return `range ${fault.at} has region number ${fault.number}, and there are ${fault.regions} regions`;
    case "not-a-pack":
      return "it is no pack: its first octets are others";
    case "too-new":
      return `it is of version ${fault.version} and needs a reader of version ${fault.needs}; this one is of version ${fault.reads}`;
    case "unknown-section":
      return `it has a section ${fault.section}, which must be understood and is not known here`;
    case "malformed-header":
      return `its header is wrong in ${fault.what}`;
    case "truncated":
      return `it has ${fault.bytes} octets of ${fault.needed}`;
    case "trailing-octets":
      return `it has ${fault.bytes} octets, and it should end after ${fault.needed}`;
    case "page-differs":
      return `page ${fault.page} is not what the header says in ${fault.what}`;
    case "digest-differs": {
      const part = fault.part === "header" ? "its header" : `page ${fault.part}`;
      return `${part} has the SHA-256 ${fault.actual}, not ${fault.expected}`;
    }
  }
};
