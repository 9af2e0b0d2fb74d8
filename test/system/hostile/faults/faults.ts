import { BODY_FAULTS } from "./body.ts";
import { CONNECTION_FAULTS } from "./connection.ts";
import type { Fault } from "./fault.ts";
import { FRAMING_FAULTS } from "./framing.ts";
import { HEAD_FAULTS } from "./head.ts";
import { CALM, STATUS_FAULTS } from "./status.ts";

/** Every way to fail that one answer shows, and the one region that does not. */
export const FAULTS: readonly Fault[] = [
  ...CONNECTION_FAULTS,
  ...HEAD_FAULTS,
  ...FRAMING_FAULTS,
  ...BODY_FAULTS,
  ...STATUS_FAULTS,
  CALM,
];
