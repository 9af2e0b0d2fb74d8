/** Paths as servers read them that are less exact than the gateway. */

/** With the escapes of ASCII decoded, as no table reads a path. */
export const unescaped = (text: string): string =>
  text.replace(/%([0-7][0-9A-Fa-f])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The segments of a path as servers read them that decode escapes, cut parameters, merge slashes and resolve dots. */
export const segmentsAsRead = (path: string): readonly string[] => {
  const segments: string[] = [];
  for (const segment of readSegments(path)) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments;
};

/** A path, or a pattern, as servers read it that know no case either. */
export const asServersRead = (path: string): string => `/${segmentsAsRead(path).join("/").toLowerCase()}`;

const readSegments = (path: string): readonly string[] =>
  unescaped(path)
    .replace(/;[^/\\]*/g, "")
    .split(/[/\\]/);

/** The same with the slash at its end: `/login/` need not be `/login`. */
export const withLastSlash = (path: string): string => {
  const read = asServersRead(path);
  return read !== "/" && /^\.{0,2}$/.test(readSegments(path).at(-1) ?? "") ? `${read}/` : read;
};
