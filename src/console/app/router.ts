import { computed, signal } from "@preact/signals";

/**
 * The place in the console is in the fragment: browsers do not send it, so an ID in a link reaches no server and no log.
 * `#/look-up?id=…`
 */

const PAGES = [
  "look-up",
  "overview",
  "routes",
  "regions",
  "entities",
  "editor",
  "history",
  "canary",
  "moves",
  "mint",
  "layouts",
  "capacity",
] as const;

export type PageName = (typeof PAGES)[number];

/** Names that pages had: links that people kept still open them. */
const FORMER: Readonly<Record<string, PageName>> = { table: "editor", stock: "capacity" };

export interface Place {
  readonly page: PageName;
  readonly query: URLSearchParams;
}

export function readPlace(fragment: string): Place {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const former = Object.hasOwn(FORMER, path) ? FORMER[path] : undefined;
  const page = former ?? PAGES.find((each) => each === path) ?? "look-up";
  return { page, query: new URLSearchParams(query) };
}

export const fragmentOf = (page: PageName, query: Readonly<Record<string, string>> = {}): string => {
  const text = new URLSearchParams(query).toString();
  return `#/${page}${text === "" ? "" : `?${text}`}`;
};

const fragment = signal("");

/** The address as the page last read or wrote it. */
let known = "";

export const place = computed(() => readPlace(fragment.value));

/** The address names no page. */
export const isNowhere = computed(() => fragment.value.replace(/^#?\/?/, "") === "");

export function watchPlace(): void {
  take();
  addEventListener("hashchange", take);
}

type Asked = (wanted: string) => void;

let asked: Asked | undefined;

/** Until the returned function is called, a reader who goes elsewhere stays, and is asked. The browser asks about a reload by itself. */
export function holdPlace(ask: Asked): () => void {
  const stay = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener("beforeunload", stay);
  asked = ask;
  return () => {
    removeEventListener("beforeunload", stay);
    asked = undefined;
  };
}

function take(): void {
  if (asked !== undefined && location.hash !== known) {
    const wanted = location.hash;
    history.pushState(null, "", known);
    asked(wanted);
    return;
  }
  known = location.hash;
  fragment.value = known;
}

export function goTo(page: PageName, query: Readonly<Record<string, string>> = {}): void {
  const wanted = fragmentOf(page, query);
  if (asked !== undefined && wanted !== known) {
    asked(wanted);
    return;
  }
  location.hash = wanted;
  take();
}

/** Changes the link of the page without a new entry in the history. */
export function setQuery(page: PageName, query: Readonly<Record<string, string>>): void {
  // The reader may have gone on while the page was drawing.
  if (location.hash !== known) return;
  history.replaceState(null, "", fragmentOf(page, query));
  known = location.hash;
}
