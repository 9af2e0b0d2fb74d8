import { unescaped } from "../../../routing/lookup/values.ts";

/** A link of the header field `link` (RFC 8288 §3). Names of parameters are in lower case; of several of one name the first counts. */
interface Link {
  readonly target: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The links of the field, its lines joined by commas; `undefined` where it cannot be read (appendix B.2). */
function readLinks(field: string): readonly Link[] | undefined {
  const links: Link[] = [];
  for (let at = pass(EMPTY_ELEMENTS, field, 0); at < field.length; at = pass(EMPTY_ELEMENTS, field, at)) {
    const end = field[at] === "<" ? field.indexOf(">", at) : -1;
    if (end === -1) return undefined;
    const target = field.slice(at + 1, end);
    const parameters = new Map<string, string>();
    at = end + 1;
    for (let found = match(PARAMETER, field, at); found !== undefined; found = match(PARAMETER, field, at)) {
      const [whole, name = "", quoted, token] = found;
      at += whole.length;
      const key = name.toLowerCase();
      if (key !== "" && !parameters.has(key))
        parameters.set(key, quoted === undefined ? (token?.trim() ?? "") : unescaped(quoted));
    }
    at = pass(SPACE, field, at);
    if (at < field.length && field[at] !== ",") return undefined;
    links.push({ target, parameters });
  }
  return links;
}

/** Target of the relation `next` of the resource itself; `undefined` without one, `null` where none can be told. */
export function nextOfLink(field: string): string | null | undefined {
  const targets = readLinks(field)
    // With an anchor the link is of another resource (§3.2).
    ?.filter(({ parameters }) => (parameters.get("anchor") ?? "") === "")
    .filter(({ parameters }) => relationsOf(parameters.get("rel") ?? "").includes("next"))
    .map(({ target }) => target);
  if (targets === undefined || new Set(targets).size > 1) return null;
  return targets[0];
}

/** Registered relation types have no case (§2.1.1). */
const relationsOf = (rel: string): readonly string[] => rel.toLowerCase().split(/\s+/);

/** RFC 9110 §5.6.1.2: a list may have empty elements. */
const EMPTY_ELEMENTS = /[ \t,]*/y;
const SPACE = /[ \t]*/y;

/** Appendix B.3: a name, and a quoted string, or a text up to the next separator. A parameter may be empty, or have no value. */
const PARAMETER = /[ \t]*;[ \t]*([^ \t=;,]*)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|(?![ \t"])([^;,]*)))?/y;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

const pass = (pattern: RegExp, text: string, at: number): number => at + (match(pattern, text, at)?.[0].length ?? 0);
