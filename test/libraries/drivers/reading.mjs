/** Helpers that drivers share. */

export const hexOf = (bytes) => Buffer.from(bytes).toString("hex");

export const bigOf = (bytes) => BigInt(`0x${hexOf(bytes) || "0"}`);
