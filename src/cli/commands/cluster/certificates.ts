import { InvalidArgumentError } from "commander";
import { command, required, withDefault } from "../../command.ts";
import { EXIT, fail } from "../../runtime.ts";

/** Browsers' limit for certificates of a year; machines that trust this authority alone take any. */
const DAYS = 365;
const DAYS_MAX = 3_650;

const daysOf = (text: string): number => {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= DAYS_MAX) return Number(text);
  throw new InvalidArgumentError(`A whole number of days from 1 to ${DAYS_MAX}.`);
};

export const certificates = command({
  name: "certificates",
  description: "make certificates by which edges and state nodes prove themselves to each other, with openssl",
  options: [
    required("--out <folder>", "gets ca, state and edge; with the ca that is there, new ones for both roles are made"),
    withDefault("--days <days>", "how long they are valid; the authority's is for ten years", DAYS, daysOf),
  ],
  help: `
Copy state to every state node and edge to every edge, for --state-tls. Keep ca/key.pem off these machines: who has it can
make a machine. Run the command again before the certificates end, copy them, and restart one machine after the other.

Example:
  $ waybill cluster certificates --out certificates`,
  run: async (runtime, _, { out, days }) => {
    const { makeCertificates } = await import("../../../host/machines/certificates.ts");
    const made = makeCertificates(out, days);
    if (!made.ok) return fail(`${made.error}\nNo certificate was made.\n`);
    const authority = made.value.isRenewal
      ? `signed by ${out}/ca, which was there`
      : `and ${out}/ca, whose key.pem signs them`;
    await runtime.print(`${out}/state and ${out}/edge, valid for ${days} days, ${authority}\n`);
    return EXIT.ok;
  },
});
