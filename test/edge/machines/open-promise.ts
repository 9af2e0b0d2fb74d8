/** A promise that a test resolves. */
export function openPromise<Value>() {
  let resolve = (_value: Value): void => undefined;
  const promise = new Promise<Value>((give) => {
    resolve = give;
  });
  return { promise, resolve: (value: Value) => resolve(value) };
}
