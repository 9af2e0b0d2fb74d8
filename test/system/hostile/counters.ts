/** The gateway's counts, by the values of a metric's labels in the order in which it shows them. */
export async function countersOf(url: string, metric: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/-/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} for the metrics: ${text}`);
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = /^([a-z_]+)(?:\{(.*)\})? ([0-9.e+]+)$/.exec(line) ?? [];
    if (name !== metric) continue;
    const values = [...labels.matchAll(/="([^"]*)"/g)].map(([, label]) => label);
    found.set(values.join(" "), Number(value));
  }
  return found;
}
