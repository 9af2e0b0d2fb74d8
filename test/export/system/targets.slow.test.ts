import { inject } from "vitest";
import { describeTargets } from "./targets.ts";

describeTargets(8_000, inject("propertySeed") ?? Date.now() % 2 ** 31);
