const DATE = /^([0-9]{4})-([0-9]{2})-([0-9]{2})T/;

/** Unix milliseconds of an ISO 8601 time with its offset; `undefined` for a day or an hour that does not exist. */
export const parseTime = (text: string): number | undefined => {
  const ms = Date.parse(text);
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (Number.isNaN(ms) || year === undefined || month === undefined || day === undefined) return undefined;
  // A date parser may take 30 February for 2 March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) ? ms : undefined;
};
