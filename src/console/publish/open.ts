import { announcement } from "../app/announce.ts";

/** Opens the window that publishes the draft, on whatever page one is. */
export function openPublish(): void {
  load((root) => root.openPublishDialog());
}

/** The way back from the last change stands at the foot of the page again, after a reload too. */
export function showLastChange(): void {
  load((root) => root.mount());
}

/** Pages that only look never load it. */
function load(then: (root: typeof import("./root.tsx")) => void): void {
  import("./root.tsx").then(then, () => {
    announcement.value = "This window could not be loaded. Check the connection, and try again.";
  });
}
