import ts from "typescript";
import type { File } from "../house.ts";
import { EXCEPTIONS } from "./exceptions.ts";

/** The bounds on functions, counted in the syntax tree of TypeScript. */

export const FUNCTION_MAX = { lines: 50, parameters: 5, returns: 8, branches: 15 } as const;

export type Measure = keyof typeof FUNCTION_MAX;

export interface FunctionSize {
  /** `path name`; a function without a name is called by the call that takes it, such as `path app.get()`. */
  readonly key: string;
  /**
   * `lines`, `returns` and `branches` leave out those inside nested functions, which count by themselves. A branch is an
   * `if`, a `case`, a `catch`, a loop, `?:`, `&&`, `||` or `??`.
   */
  readonly size: Readonly<Record<Measure, number>>;
}

const BRANCHES: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.ConditionalExpression,
  ts.SyntaxKind.CaseClause,
  ts.SyntaxKind.CatchClause,
  ts.SyntaxKind.ForStatement,
  ts.SyntaxKind.ForOfStatement,
  ts.SyntaxKind.ForInStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
]);

const BRANCHING_OPERATORS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
]);

type WithBody = ts.FunctionLikeDeclaration & { readonly body: ts.Block | ts.Expression };

const isFunction = (node: ts.Node): node is WithBody =>
  ts.isFunctionLike(node) && "body" in node && node.body !== undefined;

const isBranch = (node: ts.Node): boolean =>
  BRANCHES.has(node.kind) || (ts.isBinaryExpression(node) && BRANCHING_OPERATORS.has(node.operatorToken.kind));

const isCounted = ({ path }: File): boolean => /^(?:src|routes)\/.*\.tsx?$/.test(path);

const parsed = new WeakMap<File, ts.SourceFile>();

function parse(file: File): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const kind = file.path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kind);
  parsed.set(file, source);
  return source;
}

export function functionSizes(files: readonly File[]): readonly FunctionSize[] {
  const sizes: FunctionSize[] = [];
  for (const file of files.filter(isCounted)) {
    const source = parse(file);
    const visit = (node: ts.Node): void => {
      if (isFunction(node)) sizes.push({ key: `${file.path} ${nameOf(node)}`, size: sizeOf(node, source) });
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return sizes;
}

function sizeOf(node: WithBody, source: ts.SourceFile): FunctionSize["size"] {
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  const linesBetween = (inner: ts.Node) => lineAt(inner.end) - lineAt(inner.getStart(source));
  let lines = linesBetween(node) + 1;
  let returns = 0;
  let branches = 0;
  const count = (inner: ts.Node): void => {
    if (isFunction(inner)) {
      lines -= ts.isBlock(inner.body) ? Math.max(0, linesBetween(inner.body) - 1) : linesBetween(inner.body);
      return;
    }
    if (ts.isReturnStatement(inner)) returns++;
    if (isBranch(inner)) branches++;
    ts.forEachChild(inner, count);
  };
  ts.forEachChild(node, count);
  const parameters = node.parameters.filter(({ name }) => name.getText(source) !== "this").length;
  return { lines, parameters, returns, branches };
}

function nameOf(node: WithBody): string {
  if (node.name !== undefined) return node.name.getText();
  if (ts.isConstructorDeclaration(node)) return "constructor";
  for (let at: ts.Node = node.parent; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isCallExpression(at)) return `${at.expression.getText().replaceAll(/\s+/g, "").slice(-40)}()`;
    if ((ts.isVariableDeclaration(at) || ts.isPropertyAssignment(at) || ts.isPropertyDeclaration(at)) && at.name) {
      return at.name.getText();
    }
  }
  return "()";
}

/** A function over a bound: `path name`, and by what. */
export interface LargeFunction {
  readonly key: string;
  readonly text: string;
}

const MEASURES = Object.keys(FUNCTION_MAX) as Measure[];

export const largeFunctions = (files: readonly File[]): readonly LargeFunction[] =>
  functionSizes(files).flatMap(({ key, size }) => {
    const over = MEASURES.filter((measure) => size[measure] > FUNCTION_MAX[measure]);
    return over.length === 0 ? [] : [{ key, text: over.map((measure) => `${size[measure]} ${measure}`).join(", ") }];
  });

/** Functions over a bound without an exception, and exceptions that no function needs any more. */
export function functionFaults(
  files: readonly File[],
  exceptions: Readonly<Record<string, string>> = EXCEPTIONS,
): readonly string[] {
  const large = largeFunctions(files);
  const keys = new Set(large.map(({ key }) => key));
  return [
    ...large.filter(({ key }) => !Object.hasOwn(exceptions, key)).map(({ key, text }) => `${key} has ${text}`),
    ...Object.keys(exceptions)
      .filter((key) => !keys.has(key))
      .map((key) => `${key} is an exception and needs none`),
  ];
}

/** Literals that are spread into another one: they join lines and say nothing. */
export const spreadLiterals = (files: readonly File[]): readonly string[] =>
  files.filter(isCounted).flatMap((file) => {
    const source = parse(file);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      const inObject = ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression);
      const inArray = ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression);
      if (inObject || inArray) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        found.push(`${file.path}:${line + 1} spreads a literal`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
