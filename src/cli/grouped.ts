/** `1,204`. */
export const grouped = (count: number | bigint): string => count.toLocaleString("en-US");
