/** A module that requests load by need. The first need compiles it; no start does. */
export interface Loadable<Module> {
  /** The module, once it is loaded: callers look here first, so that a later call waits for nothing. */
  readonly loaded: Module | undefined;
  /** Rejects with `ModuleUnavailable`. A later call tries again. */
  load(): Promise<Module>;
  /** Uses the module, at once if it is loaded. */
  run<Value>(use: (module: Module) => Value | Promise<Value>): Value | Promise<Value>;
}

/** A module of this build that is missing, damaged, or threw when it was evaluated. The error stays for the isolate's life. */
export class ModuleUnavailable extends Error {
  readonly module: string;

  constructor(module: string, cause: unknown) {
    super(`the module ${module} cannot be loaded: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.module = module;
  }
}

/** An error that no step made a value of, as its client gets it. */
export const errorOf = (thrown: unknown) =>
  thrown instanceof ModuleUnavailable
    ? ({ reason: "module-unavailable", module: thrown.module } as const)
    : ({ reason: "internal-error" } as const);

/** `module`: its name in logs and problems. */
export function loadable<Module>(module: string, imported: () => Promise<Module>): Loadable<Module> {
  let loaded: Module | undefined;
  const load = async (): Promise<Module> => {
    try {
      loaded ??= await imported();
      return loaded;
    } catch (error) {
      throw new ModuleUnavailable(module, error);
    }
  };
  return {
    get loaded() {
      return loaded;
    },
    load,
    run: (use) => (loaded === undefined ? load().then(use) : use(loaded)),
  };
}

/** An object of which every member is a method. */
export const methodsBy = <Api extends object>(call: (name: string, values: never[]) => unknown): Api =>
  new Proxy({} as Api, {
    get: (_, name) =>
      // A promise would be resolved by its `then`.
      typeof name === "symbol" || name === "then" ? undefined : (...values: never[]) => call(name, values),
  });

/** The methods of an object that is made with the first call. All of them give promises. */
export const methodsOf = <Api extends object>(module: string, made: () => Promise<Api>): Api => {
  const own = loadable(module, made);
  return methodsBy(async (name, values) =>
    (((await own.load()) as Api)[name as keyof Api] as (...given: never[]) => unknown)(...values),
  );
};
