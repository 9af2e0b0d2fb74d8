/** Makes a value when it is first asked for: a start makes nothing that its first request does not need. */
export const once = <Value>(make: () => Value) => {
  let made: [Value] | undefined;
  return (): Value => {
    made ??= [make()];
    return made[0];
  };
};
