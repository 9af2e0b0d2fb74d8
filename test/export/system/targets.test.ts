import { describeTargets } from "./targets.ts";

describeTargets(800, 20_261_122);
