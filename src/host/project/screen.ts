import { columns, type Paint } from "./lines.ts";
import type { EntitySample } from "./samples.ts";

export interface OriginRow {
  readonly region: string;
  readonly url: string;
  /** Nothing listens there: a server of this run answers. */
  readonly isStandIn: boolean;
}

export interface StartScreen {
  readonly url: string;
  readonly table: string;
  readonly revision: number | undefined;
  /** Whether the file is published whenever it is saved. */
  readonly isWatched: boolean;
  readonly state: string;
  readonly origins: readonly OriginRow[];
  /** The first ones of the table. */
  readonly entities: readonly EntitySample[];
  readonly entityCount: number;
  readonly notes: readonly string[];
  /** `undefined`: no name leads to it. */
  readonly consoleUrl: string | undefined;
  /** An operator's, of this run alone. */
  readonly token: string | undefined;
  readonly isOpen: boolean;
  readonly paint: Paint;
}

/** With them the screen fits a terminal of 24 lines of 80 columns. */
export const ENTITIES_MAX = 4;
const ORIGINS_MAX = 5;

/** Where everything is, and a request to try for each entity. */
export function formatStart(screen: StartScreen): string {
  const { url, table, revision, isWatched, state, paint } = screen;
  const tableWords = [table, revision === undefined ? [] : `revision ${revision}`].flat().join(", ");
  return [
    `${paint("bold", "ready")} ${url}`,
    "",
    ...columns([
      ["table", tableWords + (isWatched ? "; published again whenever it is saved" : "")],
      ["state", state],
    ]),
    ...originLines(screen),
    "",
    ...entityLines(screen),
    "",
    ...screen.notes.map((note) => paint("yellow", note)),
    "Each request prints a line below. Ctrl-C stops everything.",
    ...consoleLines(screen),
  ].join("\n");
}

function originLines({ origins, paint }: StartScreen): readonly string[] {
  const rows = origins
    .slice(0, ORIGINS_MAX)
    .map(({ region, url, isStandIn }) => [region, url, isStandIn ? "stand-in: nothing listens there" : ""]);
  const lines = columns(rows).map((line) => line.replace(/stand-in: .*/, (words) => paint("yellow", words)));
  const more = origins.length - rows.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

function entityLines({ url, entities, entityCount, paint }: StartScreen): readonly string[] {
  const lines = entities.flatMap(({ entity, paths, sample }) =>
    sample === undefined
      ? [
          paint("dim", `  # ${entity}: no ID can be minted here that the table routes; use one of yours`),
          `  curl -i ${url}${paths[0] ?? "/"}`,
        ]
      : [paint("dim", `  # ${entity}, ${sample.about}: ${sample.region}`), `  curl -i ${url}${sample.path}`],
  );
  const more = entityCount - entities.length;
  return more > 0 ? [...lines, `  and ${more} more: \`waybill mint --entity NAME\``] : lines;
}

function consoleLines({ consoleUrl, token, isOpen, paint }: StartScreen): readonly string[] {
  const access = isOpen
    ? "It is open on this machine, without signing in."
    : token === undefined
      ? "Sign in there with a token of ADMIN_TOKENS."
      : `Sign in there with the token of this run: ${token}`;
  const where = consoleUrl ?? "has no address: set CONSOLE_HOST to a name that leads here (docs/operate/console.md)";
  return [access, `${paint("bold", "console")} ${where}`];
}
