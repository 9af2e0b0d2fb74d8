/** The members of JSON values as lines of text, `path  type`, so that a renamed member is one line of a diff. */

/** `?` marks a member that some of the objects lack; the samples are values of the same kind. */
export const shapeOf = (samples: readonly unknown[]): string[] => linesOf("", samples);

const linesOf = (path: string, samples: readonly unknown[]): string[] => {
  const types = [...new Set(samples.map(typeOf))].toSorted();
  const objects = samples.filter((each) => typeOf(each) === "object") as Readonly<Record<string, unknown>>[];
  const items = samples.filter((each) => Array.isArray(each)).flat();
  const names = [...new Set(objects.flatMap((each) => Object.keys(each)))].toSorted();
  return [
    ...(path === "" ? [] : [`${path}  ${types.join(" | ")}`]),
    ...(items.length === 0 ? [] : linesOf(`${path}[]`, items)),
    ...names.flatMap((name) => {
      const having = objects.filter((each) => each[name] !== undefined);
      const mark = having.length < objects.length ? "?" : "";
      return linesOf(
        `${path}.${name}${mark}`,
        having.map((each) => each[name]),
      );
    }),
  ];
};

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** Named lists of lines as one text, for a file snapshot. */
export const sections = (all: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(all)
    .map(([name, lines]) => `## ${name}\n\n${lines.map((line) => `${line}\n`).join("")}`)
    .join("\n");
