import { computed } from "@preact/signals";
import type { ComponentType } from "preact";
import { LookUp } from "../lookup/look-up.tsx";
import type { IconName } from "./parts/icons.tsx";
import type { PageName } from "./router.ts";
import { type Scope, session } from "./session.ts";

export interface Page {
  readonly name: PageName;
  readonly title: string;
  readonly icon: IconName;
  /** After G it opens the page. */
  readonly key: string;
  /** Scopes that see it; absent: everyone, also signed out. */
  readonly scopes?: readonly Scope[];
  load(): ComponentType | Promise<ComponentType>;
}

export interface PageGroup {
  readonly title: string;
  readonly icon: IconName;
  readonly pages: readonly Page[];
}

const scopes: readonly Scope[] = ["viewer", "operator"];

/** Pages in the order of the navigation; each is loaded when it is opened. A phone has a tab for each group. */
export const GROUPS: readonly PageGroup[] = [
  {
    title: "Look up",
    icon: "look-up",
    pages: [
      {
        name: "look-up",
        title: "Look up",
        icon: "look-up",
        key: "L",
        // In the first load: it works without the gateway.
        load: () => LookUp,
      },
    ],
  },
  {
    title: "Overview",
    icon: "overview",
    pages: [
      {
        name: "overview",
        title: "Overview",
        icon: "overview",
        key: "O",
        scopes,
        load: () => import("../overview/overview.tsx").then((part) => part.default),
      },
    ],
  },
  {
    title: "Routing",
    icon: "routes",
    pages: [
      {
        name: "routes",
        title: "Routes",
        icon: "routes",
        key: "R",
        scopes,
        load: () => import("../routing/lists/routes-page.tsx").then((part) => part.default),
      },
      {
        name: "regions",
        title: "Regions",
        icon: "regions",
        key: "S",
        scopes,
        load: () => import("../routing/lists/regions-page.tsx").then((part) => part.default),
      },
      {
        name: "entities",
        title: "Entities",
        icon: "entities",
        key: "N",
        scopes,
        load: () => import("../routing/lists/entities-page.tsx").then((part) => part.default),
      },
      {
        name: "editor",
        title: "Editor",
        icon: "editor",
        key: "E",
        scopes,
        load: () => import("../routing/editor/editor-page.tsx").then((part) => part.default),
      },
    ],
  },
  {
    title: "Changes",
    icon: "history",
    pages: [
      {
        name: "history",
        title: "History",
        icon: "history",
        key: "H",
        scopes,
        load: () => import("../history/history.tsx").then((part) => part.default),
      },
      {
        name: "canary",
        title: "Canary",
        icon: "canary",
        key: "C",
        scopes,
        load: () => import("../canary/canary.tsx").then((part) => part.default),
      },
      {
        name: "moves",
        title: "Moves",
        icon: "moves",
        key: "M",
        scopes,
        load: () => import("../moves/moves.tsx").then((part) => part.default),
      },
    ],
  },
  {
    title: "IDs",
    icon: "layouts",
    pages: [
      {
        name: "mint",
        title: "Mint",
        icon: "plus",
        key: "I",
        scopes,
        load: () => import("../mint/mint.tsx").then((part) => part.default),
      },
      {
        name: "layouts",
        title: "Layouts",
        icon: "layouts",
        key: "Y",
        load: () => import("../layouts/layouts.tsx").then((part) => part.default),
      },
      {
        name: "capacity",
        title: "Capacity",
        icon: "capacity",
        key: "P",
        scopes,
        load: () => import("../capacity/capacity.tsx").then((part) => part.default),
      },
    ],
  },
];

const PAGES: readonly Page[] = GROUPS.flatMap(({ pages }) => pages);

export const pageOf = (name: PageName): Page => {
  const found = PAGES.find((page) => page.name === name);
  if (found === undefined) throw new Error(`no page is called ${name}`);
  return found;
};

export const mayOpen = ({ scopes: allowed }: Page): boolean =>
  allowed === undefined || allowed.some((scope) => scope === session.value?.scope);

/** Groups with the pages that the signed-in one may open, without those that have none. */
export const ownGroups = computed((): readonly PageGroup[] =>
  GROUPS.map((group) => ({ ...group, pages: group.pages.filter(mayOpen) })).filter(({ pages }) => pages.length > 0),
);
