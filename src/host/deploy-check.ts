import type { CompiledTable } from "../routing/index.ts";

/** Why a table must not go to the edge. */
export interface UnreachableOrigin {
  /** RFC 6901 JSON pointer. */
  readonly pointer: string;
  readonly message: string;
}

/** Names and addresses that mean the machine itself, wherever that is: RFC 6761 section 6.3, RFC 1122, RFC 4291. */
const LOOPBACK =
  /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])\.?$/;

/** Origins on loopback addresses, of which the edge has no use. */
export const unreachableOrigins = (table: CompiledTable): readonly UnreachableOrigin[] =>
  [...table.regions.values()].flatMap(({ name, origins }) =>
    origins.flatMap(({ url }, index) => {
      if (!LOOPBACK.test(new URL(url).hostname)) return [];
      const message = `${url} is on this machine; put the address at which the edge reaches region ${name}.`;
      return [{ pointer: `/regions/${name}/origins/${index}/url`, message }];
    }),
  );
