/** A line before it has its time. */
export interface LogEvent {
  readonly event: string;
  readonly [member: string]: unknown;
}

/** A line of the log: one JSON object with `event` and `time`, as the Worker writes its own. */
export const eventLine = (event: LogEvent, atMs: number, process?: number): string => {
  const { event: name, ...evidence } = event;
  return JSON.stringify({ process, event: name, time: new Date(atMs).toISOString(), ...evidence });
};

/** A line that workerd printed: the Worker's object as it is, any other text as an event. `process`: its number, of several. */
export function workerdLine(line: string, atMs: number, process?: number): string {
  if (!line.startsWith('{"')) return eventLine({ event: "workerd", text: line }, atMs, process);
  return process === undefined ? line : `{"process":${process},${line.slice(1)}`;
}
