import { computed } from "@preact/signals";
import { session } from "./session.ts";

/** The gateway writes them into the page, so that they are known before sign-in. */
const written = typeof document === "undefined" ? undefined : document.documentElement.dataset;

/** The name of the environment; `undefined` where the deployment has none. */
export const environment = computed(
  (): string | undefined => session.value?.environment ?? written?.["environment"] ?? undefined,
);

/** In place of a name: the host of the console. */
export const deployment = computed((): string => session.value?.deployment ?? location.host);

export const isProduction = computed(() => /^prod(?:uction)?(?![\p{L}\p{N}])/iu.test(environment.value ?? ""));

/** The release of Waybill. */
export const version: string = written?.["version"] ?? "";
