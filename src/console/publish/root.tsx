import { signal } from "@preact/signals";
import { session } from "../app/session.ts";
import { laterWindows } from "../app/windows.ts";
import { keepMade, made } from "./made/made.ts";
import { SentDialog, UndoBar, UnwatchedBar } from "./made/progress.tsx";
import { unwatched } from "./made/unwatched.ts";
import { PublishDialog } from "./publish-dialog.tsx";
import "../style/publish.css";

/** Windows of publication: any page opens them, and they outlive it. */

const open = signal<"publish" | "progress" | undefined>(undefined);

/** The change whose bar was put away. */
const hidden = signal<number | undefined>(undefined);

/** From now on the page shows them. */
export function mount(): void {
  if (laterWindows.peek() === Root) return;
  keepMade();
  laterWindows.value = Root;
}

export function openPublishDialog(): void {
  mount();
  open.value = "publish";
}

const close = () => {
  open.value = undefined;
};

function Root() {
  if (!session.value) return null;
  if (open.value === "publish") return <PublishDialog onClose={close} />;
  if (open.value === "progress") return <SentDialog onClose={close} />;
  if (unwatched.value !== undefined) return <UnwatchedBar />;
  const own = made.value;
  if (own === undefined || hidden.value === own.atMs) return null;
  return (
    <UndoBar
      onShow={() => {
        open.value = "progress";
      }}
      onHide={() => {
        hidden.value = own.atMs;
      }}
    />
  );
}
