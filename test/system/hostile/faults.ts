import { BODY_FAULTS } from "./body-faults.ts";
import { CONNECTION_FAULTS } from "./connection-faults.ts";
import type { Fault } from "./fault.ts";
import { FRAMING_FAULTS } from "./framing-faults.ts";
import { HEAD_FAULTS } from "./head-faults.ts";
import { CALM, STATUS_FAULTS } from "./status-faults.ts";

/** Every way to fail that one answer shows, and the one region that does not. */
export const FAULTS: readonly Fault[] = [
  ...CONNECTION_FAULTS,
  ...HEAD_FAULTS,
  ...FRAMING_FAULTS,
  ...BODY_FAULTS,
  ...STATUS_FAULTS,
  CALM,
];
