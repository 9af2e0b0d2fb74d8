/** `1,204`. */
export const formatCount = (count: number | bigint): string => count.toLocaleString("en-US");
