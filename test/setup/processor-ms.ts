/**
 * Processor time of this thread in ms: other work on the machine does not count, as it would by the clock. Node before 23.9 tells
 * that of no thread alone.
 */
export function processorMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
