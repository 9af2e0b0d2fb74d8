import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The wall clock of a process, moved while it runs. */
export interface ShiftedClock {
  /** For the process. */
  readonly env: Readonly<Record<string, string>>;
  shift(ms: number): void;
}

/** Builds the library that moves clocks; why not, where there is no compiler. */
export function buildClock(
  folder: string,
): { readonly clock: (name: string) => ShiftedClock } | { readonly why: string } {
  const source = fileURLToPath(new URL("clock.c", import.meta.url));
  const library = join(folder, "clock.so");
  const { error, status, stderr } = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, source], {
    encoding: "utf8",
  });
  if (process.platform !== "linux" || error !== undefined)
    return { why: "shifted clocks need Linux, and cc (Debian: gcc)" };
  if (status !== 0) return { why: `the clock cannot be compiled: ${stderr}` };
  const clock = (name: string): ShiftedClock => {
    const file = join(folder, `${name}.shift`);
    const shift = (ms: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(ms) * 1_000_000n);
      // In place: processes have mapped it.
      writeFileSync(file, bytes, { flag: "r+" });
    };
    writeFileSync(file, Buffer.alloc(8));
    return { env: { LD_PRELOAD: library, CLOCK_SHIFT_FILE: file }, shift };
  };
  return { clock };
}
