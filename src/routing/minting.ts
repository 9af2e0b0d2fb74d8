import type { Field, Layout, Role } from "../ids/index.ts";
import { isIssued } from "./layout-fields.ts";

/** How the gateway, which is many isolates, makes IDs of a layout that are never made twice. */
export type Minting =
  /** The layout has a minter of its own. */
  | "own"
  /** By random bits, so many that isolates need not know of each other. */
  | "chance"
  /** By numbers that are handed out once for all isolates: they stand in the time and the counter. */
  | "numbers"
  /** No ID of the layout can be made here. */
  | "none";

/** With so many random values, two IDs of one instant and one minter are the same once in 10^12 pairs. */
const RANDOM_VALUES_MIN = 1n << 40n;

/** Whether what is drawn at random in fields of these roles is enough to keep IDs apart. */
export const hasEnoughEntropy = ({ fields }: Layout, ...roles: readonly Role[]): boolean =>
  fields.reduce((values, { role, max }) => (roles.includes(role) ? values * (BigInt(max) + 1n) : values), 1n) >=
  RANDOM_VALUES_MIN;

export const mintingOf = (layout: Layout): Minting => {
  if (layout.table.minter !== undefined) return layout.table.minter;
  if (hasEnoughEntropy(layout, "random")) return "chance";
  return layout.fields.some(({ role }) => role === "time" || role === "counter") ? "numbers" : "none";
};

/** Whether IDs of a layout that are minted anew differ in more than a number that is counted on. */
export const isRandom = (layout: Layout): boolean => mintingOf(layout) !== "numbers" && layout.name !== "luuid";

/** Fields that the gateway fills in itself: an identity that it draws, and numbers from a sequence. */
const OWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  hotguid: ["machine", "process"],
  "hotguid-sql": ["machine", "process"],
  luuid: ["primaryKey"],
};

/** The fields that whoever wants an ID must give. */
export const requiredFields = (layout: Layout): readonly Field[] =>
  layout.fields.filter((field) => isIssued(field) && !(OWN_FIELDS[layout.name] ?? []).includes(field.name));
