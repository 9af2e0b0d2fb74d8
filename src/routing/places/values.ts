/** Values of names in the parts of a request that are lists of pairs. Pure, and nothing is dropped that an origin would see. */

/**
 * The values of a name in a query or a form (application/x-www-form-urlencoded), decoded, in their order. What cannot be
 * decoded stays as it is: no such text is an ID or the name of a region.
 */
export function parameterValues(text: string, name: string): readonly string[] {
  const values: string[] = [];
  if (text === "") return values;
  for (const pair of text.split("&")) {
    const equals = pair.indexOf("=");
    const key = equals === -1 ? pair : pair.slice(0, equals);
    if (key === name ? !ESCAPE.test(key) : decode(key) === name) {
      values.push(equals === -1 ? "" : decode(pair.slice(equals + 1)));
    }
  }
  return values;
}

const ESCAPE = /[%+]/;

function decode(text: string): string {
  if (!ESCAPE.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** The values of a cookie. Field lines that were joined by a comma are apart again: what is behind one is not lost. */
export function cookieValues(field: string | undefined, name: string): readonly string[] {
  if (field === undefined) return [];
  return field.split(/[;,]/).flatMap((pair) => {
    const equals = pair.indexOf("=");
    return equals !== -1 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
  });
}
