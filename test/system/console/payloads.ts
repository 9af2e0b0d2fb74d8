/** Texts of others that try to be more than text. */

const CALL = "globalThis.hacked=1";
const IN_ELEMENTS = [
  "img src=x onerror",
  "svg onload",
  "video src=x onerror",
  "body onload",
  "details open ontoggle",
  "input autofocus onfocus",
  "iframe onload",
  "marquee onstart",
  "audio src=x onerror",
  "style onload",
];
const AROUND: readonly (readonly [string, string])[] = [
  ["", ""],
  ['">', ""],
  ["'>", ""],
  ["</textarea>", ""],
];

/** Fifty payloads: elements out of text and attributes, URLs, templates, other alphabets of markup. */
export const PAYLOADS: readonly string[] = [
  ...IN_ELEMENTS.flatMap((element) => AROUND.map(([before, after]) => `${before}<${element}=${CALL}>${after}`)),
  `<script>${CALL}</script>`,
  `</script><script>${CALL}</script>`,
  `javascript:${CALL}`,
  `<a href="javascript:${CALL}" autofocus>x</a>`,
  `<iframe srcdoc="<script>parent.${CALL}</script>"></iframe>`,
  `<math><mi xlink:href="javascript:${CALL}">x</mi></math>`,
  `<object data="javascript:${CALL}"></object>`,
  `{{constructor.constructor('${CALL}')()}}`,
  `\${${CALL}}`,
  `{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${CALL}>"}}`,
];

/** Payloads that stay whole where marks around an ID are trimmed. */
export const HELD = PAYLOADS.map((payload) => `x${payload}x`);

/** The same as one word: a slash parts the attributes of an element too. */
export const WORDS = HELD.map((text) => text.replaceAll(/[\s,;]/g, "/"));

/** As they stand inside a text of JSON. */
export const inJson = (texts: readonly string[]): readonly string[] =>
  texts.map((text) => JSON.stringify(text).slice(1, -1));

/** In groups whose members, put together, have at most so many characters. */
export function batches(texts: readonly string[], lengthMax: number): readonly (readonly string[])[] {
  const found: string[][] = [];
  for (const text of texts) {
    const last = found.at(-1);
    if (last !== undefined && last.join(" ").length + text.length < lengthMax) last.push(text);
    else found.push([text]);
  }
  return found;
}

/** Texts that are not shown as often as they must be: one may be a part of others. */
export function missingIn(shown: string, texts: readonly string[]): readonly string[] {
  const flat = shown.replaceAll(/\s+/g, " ");
  return texts.filter((text) => {
    const needed = texts.filter((other) => other.includes(text)).length;
    return flat.split(text).length - 1 < needed;
  });
}
