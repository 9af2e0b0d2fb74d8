import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FENCED = /^```.*?^```$/gms;

/** Anchors of a page as GitHub makes them of its headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.replace(FENCED, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );

/** The relative links of a page that lead to no file of its folder or to no heading. `page`: its path in the folder. */
export function brokenLinks(
  folder: string,
  page: string,
  text: string = readFileSync(join(folder, page), "utf8"),
): readonly string[] {
  const links = [...text.replace(FENCED, "").matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)]+))?\)/g)];
  return links.flatMap(([link, path = "", anchor]) => {
    const target = path === "" ? page : join(dirname(page), path);
    if (target.startsWith("..") || !existsSync(join(folder, target))) return [`${page}: ${link}`];
    if (anchor === undefined) return [];
    const linked = path === "" ? text : readFileSync(join(folder, target), "utf8");
    return anchorsOf(linked).has(anchor) ? [] : [`${page}: ${link}`];
  });
}
