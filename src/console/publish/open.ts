import { announcement } from "../app/announce.ts";
import { MADE_KEY } from "../app/windows.ts";

/** Opens the window that publishes the draft, on whatever page one is. */
export function openPublish(): void {
  load((root) => root.openPublishDialog());
}

/** The last change and the way back from it stand at the foot of every page. */
export function showLastChange(): void {
  load((root) => root.mount());
}

/** After a reload too. */
export function keepLastChange(): void {
  try {
    if (sessionStorage.getItem(MADE_KEY) !== null) showLastChange();
  } catch {
    // A tab without storage has none from before.
  }
}

/** Pages that only look never load it. */
function load(then: (root: typeof import("./root.tsx")) => void): void {
  import("./root.tsx").then(then, () => {
    announcement.value = "This window could not be loaded. Check the connection, and try again.";
  });
}
