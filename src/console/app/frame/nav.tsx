import { useEffect, useRef } from "preact/hooks";
import { tableDraft } from "../../routing/draft.ts";
import { version } from "../environment.ts";
import { force } from "../force.ts";
import { mayOpen, ownGroups, type Page, type PageGroup, pageOf } from "../pages.ts";
import { Icon } from "../parts/icons.tsx";
import { Tag } from "../parts/state.tsx";
import { fragmentOf, type PageName } from "../router.ts";
import { knownTable } from "../session.ts";
import { isHelpOpen } from "../windows.ts";
import { plural, wholeText } from "../words.ts";
import { Brand } from "./top.tsx";

/** A group of one page of the same name needs no title. */
const isSingle = ({ title, pages }: PageGroup): boolean => pages.length === 1 && pages[0]?.title === title;

/** All pages in groups, at the left. */
export function Side({ page }: { page: PageName }) {
  const groups = ownGroups.value;
  const first = groups.filter(isSingle).flatMap(({ pages }) => pages);
  return (
    <nav class="side" aria-label="Pages">
      <Brand />
      <div class="groups">
        <List pages={first} page={page} />
        {groups
          .filter((group) => !isSingle(group))
          .map(({ title, pages }) => (
            <div key={title}>
              <h2 id={`nav-${title}`}>{title}</h2>
              <List pages={pages} page={page} labelledBy={`nav-${title}`} />
            </div>
          ))}
      </div>
      <div class="side-foot">
        <Draft />
        <p class="side-links">
          <button
            type="button"
            onClick={() => {
              isHelpOpen.value = true;
            }}
          >
            Keys <kbd>?</kbd>
          </button>
          <span>{version}</span>
        </p>
      </div>
    </nav>
  );
}

const List = ({ pages, page, labelledBy }: { pages: readonly Page[]; page: PageName; labelledBy?: string }) => (
  <ul aria-labelledby={labelledBy}>
    {pages.map(({ name, title, icon }) => (
      <li key={name}>
        <a href={fragmentOf(name)} aria-current={name === page ? "page" : undefined}>
          <Icon name={icon} />
          {title}
          <Note of={name} />
        </a>
      </li>
    ))}
  </ul>
);

/** A mark beside a page: a canary that runs, moves in progress, a draft. */
function Note({ of }: { of: PageName }) {
  const canary = force.value?.canary;
  const moves = Object.keys(knownTable.value?.declared.moves ?? {}).length;
  if (of === "canary" && canary) return <Tag kind="dashed">{canary.words}</Tag>;
  if (of === "moves" && moves > 0) return <Tag>{wholeText(moves)}</Tag>;
  if (of === "editor" && tableDraft.value) return <Tag kind="dashed">draft</Tag>;
  return null;
}

/** `3 lines, from revision 42`. */
export const draftText = ({ changedLines, baseRevision }: NonNullable<typeof tableDraft.value>): string =>
  `${plural(changedLines, "line")}, from revision ${baseRevision}`;

function Draft() {
  const draft = tableDraft.value;
  if (draft === undefined || !mayOpen(pageOf("editor"))) return null;
  return (
    <a class="draft" href={fragmentOf("editor")}>
      <b>Draft, not published</b>
      <small>{draftText(draft)}</small>
    </a>
  );
}

const groupOf = (page: PageName): PageGroup | undefined =>
  ownGroups.value.find(({ pages }) => pages.some(({ name }) => name === page));

/** On phones: a tab for each group, in reach of a thumb. */
export const Tabs = ({ page }: { page: PageName }) => (
  <nav class="tabs" aria-label="Sections">
    {ownGroups.value.map((group) => (
      <a
        key={group.title}
        href={fragmentOf(group.pages[0]?.name ?? "look-up")}
        aria-current={group === groupOf(page) ? "true" : undefined}
      >
        <Icon name={group.icon} />
        {group.title}
      </a>
    ))}
  </nav>
);

/** On phones: the pages of the open group. */
export function SubNav({ page }: { page: PageName }) {
  const group = groupOf(page);
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    // The page that is open must be in view. Not by `scrollIntoView`, from where the next Tab would go on.
    const current = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (row.current && current)
      row.current.scrollLeft = current.offsetLeft - (row.current.clientWidth - current.clientWidth) / 2;
  }, [page, group]);
  if (group === undefined || group.pages.length < 2) return null;
  return (
    <nav class="subnav" aria-label={group.title} ref={row}>
      {group.pages.map(({ name, title }) => (
        <a key={name} href={fragmentOf(name)} aria-current={name === page ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
