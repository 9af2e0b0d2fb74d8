import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** Facts of the source that only the compiler knows: exported types, and the members of the gateway's log lines. */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const openProgram = (): ts.Program => {
  const { config } = ts.readConfigFile(join(ROOT, "src/tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, join(ROOT, "src"));
  return ts.createProgram([...fileNames, join(ROOT, "src/origin/index.ts")], options);
};

let program: ts.Program | undefined;
const programOf = (): ts.Program => {
  program ??= openProgram();
  return program;
};

/** Names that the module exports as types alone. */
export const exportedTypes = (path: string): string[] => {
  const checker = programOf().getTypeChecker();
  const file = programOf().getSourceFile(join(ROOT, path));
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${path} is no module`);
  const isType = (symbol: ts.Symbol): boolean => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return (target.flags & ts.SymbolFlags.Value) === 0;
  };
  return checker
    .getExportsOfModule(module)
    .filter(isType)
    .map(({ name }) => name);
};

/** Each object that the gateway's source writes by `console.*(JSON.stringify({ … }))`, as lines `path  type`, by its event. */
export const loggedEvents = (): Record<string, string[]> => {
  const checker = programOf().getTypeChecker();
  const found: [string, string[]][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText().startsWith("console.")) {
      const [stringified] = node.arguments;
      const object = stringified && ts.isCallExpression(stringified) ? stringified.arguments[0] : undefined;
      if (object === undefined) throw new Error(`${node.getText()} is no JSON object`);
      const event = ts.isObjectLiteralExpression(object) ? object.properties.find(isEvent) : undefined;
      if (event === undefined) throw new Error(`${node.getText()} names no event`);
      const lines = membersOf(checker, checker.getTypeAtLocation(object), node, "");
      found.push([event.initializer.getText(), lines]);
    }
    // Events by `writeEvent` of `src/edge/log.ts`: what they hold beside their name and time.
    const [name, what] = ts.isCallExpression(node) && node.expression.getText() === "writeEvent" ? node.arguments : [];
    if (name !== undefined && what !== undefined && (ts.isStringLiteral(name) || ts.isTemplateExpression(name))) {
      const lines = membersOf(checker, checker.getTypeAtLocation(what), node, "");
      found.push([name.getText(), [...lines, ".event  string", ".time  string"].toSorted()]);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of programOf().getSourceFiles()) {
    const path = file.fileName.slice(ROOT.length);
    if (/^(src|routes)\//.test(path)) visit(file);
  }
  return Object.fromEntries(found.toSorted(([left], [right]) => (left < right ? -1 : 1)));
};

const isEvent = (node: ts.ObjectLiteralElementLike): node is ts.PropertyAssignment =>
  ts.isPropertyAssignment(node) && node.name.getText() === "event";

const membersOf = (checker: ts.TypeChecker, type: ts.Type, at: ts.Node, path: string): string[] => {
  const parts = type.isUnion() ? type.types : [type];
  const objects = parts.filter((part) => part.flags & ts.TypeFlags.Object);
  const names = [...new Set(objects.flatMap((part) => checker.getPropertiesOfType(part).map(({ name }) => name)))];
  return names.toSorted().flatMap((name) => {
    const symbols = objects.flatMap((part) => checker.getPropertyOfType(part, name) ?? []);
    const types = symbols.flatMap((symbol) => leaves(checker.getTypeOfSymbolAtLocation(symbol, at)));
    const isOptional = symbols.length < objects.length || types.some((leaf) => leaf.flags & ts.TypeFlags.Undefined);
    const texts = types.filter((leaf) => !(leaf.flags & ts.TypeFlags.Undefined)).map((leaf) => textOf(checker, leaf));
    const line = `${path}.${name}${isOptional ? "?" : ""}  ${[...new Set(texts)].toSorted().join(" | ")}`;
    const deeper = types.filter((leaf) => textOf(checker, leaf) === "object");
    return [line, ...deeper.flatMap((leaf) => membersOf(checker, leaf, at, `${path}.${name}`))];
  });
};

const leaves = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);

const textOf = (checker: ts.TypeChecker, type: ts.Type): string => {
  if (!(type.flags & ts.TypeFlags.Object)) return checker.typeToString(type);
  return checker.isArrayType(type) ? "array" : "object";
};
