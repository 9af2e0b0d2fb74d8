import { computed, effect, signal } from "@preact/signals";

/** How this browser shows the console. Nothing of it is a secret, so it may stay in the browser's storage. */

const KEY = "waybill-console";

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";

const stored = ((): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
})();

const oneOf = <const Value extends string>(value: unknown, all: readonly Value[], otherwise: Value): Value =>
  all.find((each) => each === value) ?? otherwise;

export const theme = signal<Theme>(oneOf(stored["theme"], ["system", "light", "dark"], "system"));
export const textSize = signal<TextSize>(oneOf(stored["textSize"], ["small", "normal", "large"], "normal"));
const isSystemDark = signal(false);
export const isDark = computed(() => (theme.value === "system" ? isSystemDark.value : theme.value === "dark"));
/** Whether a pasted ID is sent to the gateway at once. Only where the reader said so. */
export const asksAtOnce = signal(stored["asksAtOnce"] === true);

export function keepSettings(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  isSystemDark.value = system.matches;
  // Systems change it in the evening.
  system.addEventListener("change", ({ matches }) => {
    isSystemDark.value = matches;
  });
  effect(() => {
    const root = document.documentElement;
    root.dataset["theme"] = theme.value;
    root.dataset["text"] = textSize.value;
    const settings = { theme: theme.value, textSize: textSize.value, asksAtOnce: asksAtOnce.value };
    try {
      localStorage.setItem(KEY, JSON.stringify(settings));
    } catch {
      // A browser without storage forgets them.
    }
  });
}
