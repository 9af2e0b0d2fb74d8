import "../style/lookup.css";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "../app/parts/button.tsx";
import { place, setQuery } from "../app/router.ts";
import { reader } from "../app/session.ts";
import { pastedText } from "../app/typed.ts";
import { AskBar, focusBox, take, useFocusOnce } from "./ask-bar.tsx";
import { EmptyPage, Hero } from "./empty.tsx";
import { ListUnder, ManyIds } from "./list/many.tsx";
import { besideList, Panel } from "./list/panel.tsx";
import { OneId } from "./one.tsx";
import { areSame, type Pasted, type PastedList, readPasted } from "./read-pasted.ts";

/** Paste an ID, and the region comes back: the first page of the console, also for those who are signed out. */

/** An ID in a link of the page, up to the longest that is read. */
const LINKED_MAX = 2_048;

export function LookUp() {
  const list = usePasted();
  const { at, opened, isAlone } = useOpened(list);
  const isEmpty = list.items.length === 0;
  const one = list.items.length === 1 ? list.items[0] : undefined;
  const shown = one ?? (isAlone ? opened : undefined);
  useFocusOnce(isEmpty);
  return (
    <>
      {isEmpty ? <Hero /> : <h1 class="hidden">Look up</h1>}
      <AskBar list={list} />
      {isEmpty && <EmptyPage />}
      {shown && <OneId key={shown.source} pasted={shown} onPick={onPick} before={isAlone && <Back to={shown} />} />}
      {list.items.length > 1 && (
        <div hidden={isAlone}>
          <ListUnder list={list} reader={reader.value} />
          <div class={opened === undefined ? "" : "two list has-panel"}>
            <ManyIds list={list} reader={reader.value} hrefOf={besideList} selected={opened && at} />
            {opened && !isAlone && <Panel list={list} at={at} pasted={opened} />}
          </div>
        </div>
      )}
    </>
  );
}

function onPick(text: string): void {
  take(text);
  if (text === "") focusBox();
}

const Back = ({ to }: { to: Pasted }) => (
  <p class="back">
    <Button icon="left" size="small" href={besideList(to)}>
      Back to the list
    </Button>
  </p>
);

/** The ID that the link names: one alone becomes the text in the box, one of the list stays in it. */
function useOpened({ items }: PastedList) {
  const { query } = place.value;
  const linked = query.get("id");
  const at = query.has("list") && items.length > 1 ? items.findIndex(({ source }) => source === linked) : -1;
  const opened = items[at];
  const one = items.length === 1 ? items[0] : undefined;
  useEffect(() => {
    if (linked !== null && linked !== pastedText.peek() && opened === undefined) take(linked.slice(0, LINKED_MAX));
  }, [linked]);
  useEffect(() => {
    if (place.peek().page === "look-up" && opened === undefined)
      setQuery("look-up", one === undefined ? {} : { id: one.source });
  }, [one?.source, opened === undefined]);
  return { at, opened, isAlone: opened !== undefined && query.has("alone") };
}

/** The list in the box. Another table that finds the same IDs in the text: they stay the same. */
function usePasted(): PastedList {
  const text = pastedText.value;
  const last = useRef<{ readonly text: string; readonly list: PastedList }>(undefined);
  return useMemo(() => {
    const next = readPasted(text, reader.value);
    const known = last.current;
    const own = known?.text === text && areSame(known.list, next) ? known.list : next;
    last.current = { text, list: own };
    return own;
  }, [text, reader.value]);
}
