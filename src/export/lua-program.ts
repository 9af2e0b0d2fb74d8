import type { Region } from "../routing/table.ts";
import { decisionText, luaComment, luaString, Nodes, numberText, readerText, readingText, WORDS } from "./lua-text.ts";
import { type ExportPlan, type IdDecision, ONLY_ONE_ORIGIN, type PatternPlan } from "./plan.ts";

/**
 * The decision as one Lua module for nginx (LuaJIT), HAProxy (Lua 5.3) and Envoy (LuaJIT): the same text for all. It gives a
 * region only where the table says it for certain; for anything else it gives 0, and Waybill decides.
 */
export const luaDecision = (plan: ExportPlan, title: string): string => {
  const nodes = new Nodes();
  const ids: IdDecision[] = [];
  const places = new Map<string, number>();
  const placeOf = (id: IdDecision): number => {
    const key = `${id.entity.name} ${id.layout.name}`;
    const place = places.get(key) ?? ids.push(id);
    places.set(key, place);
    return place;
  };
  const readings = plan.patterns.map(({ entity, pattern, reading }) =>
    reading === undefined
      ? undefined
      : [luaComment(`${entity.name} at ${pattern}`), ...readingText({ reading }, plan, placeOf)],
  );
  const decisions = ids.map((id, at) => {
    const [head = "", ...rest] = decisionText(id, nodes);
    return [luaComment(`${id.entity.name}: ${id.layout.name}`), `I[${at + 1}] = ${head}`, ...rest].join("\n");
  });
  const statements = [
    ...plan.shapes.map((shape, at) => `R[${at + 1}] = ${readerText(shape)}`),
    ...[...plan.overrides].map(([shape, texts]) => `M[${shape + 1}] = set(${luaString(texts.join(" "))})`),
    `T = numbers("${ordinalsOf(plan, ids).join(" ")}")`,
    ...nodes.lines,
    ...decisions,
    ...readings.flatMap((lines, at) => {
      if (lines === undefined) return [];
      const [comment = "", head = "", ...rest] = lines;
      return [[comment, `S[${at + 1}] = ${head}`, ...rest].join("\n")];
    }),
    ...ids.map((id, at) => idText(id, at + 1)),
    ...trieText(plan.patterns),
    ...plan.regions.map((region, at) => regionText(region, at + 1)),
  ];
  return [luaComment(title), HEAD, ...chunked(statements), tailOf(plan)].join("\n");
};

/** A region for each ordinal that some index can give. */
const ordinalsOf = (plan: ExportPlan, [first]: readonly IdDecision[]): readonly number[] =>
  Array.from({ length: plan.table.routeCount }, (_, ordinal) => first?.regionOf(ordinal) ?? 0);

/** The Lua text for an ID: its layout, the fields that origins are sent of it, and the words that choose an origin. */
const idText = ({ layout, entity, sent, ignoredBits, dimensions: _ }: IdDecision, place: number): string => {
  const fields = sent.map(
    ({ header, number }) => `{ ${luaString(header)}, function(${WORDS}) return ${numberText(number)} end }`,
  );
  const isOdd = ignoredBits === ONLY_ONE_ORIGIN;
  const words = ignoredBits.map((bits, at) => {
    const name = "abcde"[at] as string;
    return bits === 0 ? name : `${name} - ${name} % ${bits + 1}`;
  });
  const hash = isOdd ? "nil" : `function(${WORDS}) return mix(${words.join(", ")}) end`;
  return `D[${place}] = { layout = ${luaString(layout.name)}, entity = ${luaString(entity.name)}, sent = { ${fields.join(", ")} }, hash = ${hash} }`;
};

const regionText = ({ name, origins }: Region, place: number): string => {
  const weights = origins.map(({ weight }) => weight).join(", ");
  return `G[${place}] = { name = ${luaString(name)}, weights = { ${weights} } }`;
};

interface Node {
  readonly literals: Map<string, Node>;
  id: Node | undefined;
  any: Node | undefined;
  leaf: number | undefined;
}

const newNode = (): Node => ({ literals: new Map(), id: undefined, any: undefined, leaf: undefined });

/** The patterns as `lookup/paths.ts` walks them. */
const trieText = (patterns: readonly PatternPlan[]): readonly string[] => {
  const root = newNode();
  for (const [at, { segments }] of patterns.entries()) {
    let node = root;
    for (const segment of segments) {
      if (segment === ":id") node = node.id ??= newNode();
      else if (segment === "*") node = node.any ??= newNode();
      else {
        const next = node.literals.get(segment) ?? newNode();
        node.literals.set(segment, next);
        node = next;
      }
    }
    node.leaf = at + 1;
  }
  const lines: string[] = [];
  let count = 0;
  const write = (node: Node): number => {
    const own = ++count;
    const literals = [...node.literals].map(([text, next]) => `[${luaString(text)}] = ${write(next)}`);
    const id = node.id && write(node.id);
    const any = node.any && write(node.any);
    lines.push(
      `P[${own}] = { lit = { ${literals.join(", ")} }, id = ${id ?? "nil"}, any = ${any ?? "nil"}, leaf = ${node.leaf ?? "nil"} }`,
    );
    return own;
  };
  write(root);
  return lines;
};

/** A function holds a limited number of constants. */
const CHUNK = 400;

const chunked = (statements: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(statements.length / CHUNK) }, (_, at) =>
    ["(function()", ...statements.slice(at * CHUNK, (at + 1) * CHUNK), "end)();"].join("\n"),
  );

const BELOW_ENTITY = "/:id/";

/** Whether Waybill answers paths that are of no entity, if only with the methods that they take. */
const mayBeOwn = ({ table: { withoutId, ownPaths } }: ExportPlan): boolean =>
  withoutId.entries.length > 0 || ownPaths.length > 0;

/** The requests that may create, for `waybill.creates`. */
const createsText = ({ creates: { collections, putFields } }: ExportPlan): string => {
  const below = collections.filter((path) => path.includes(BELOW_ENTITY));
  const own = collections.filter((path) => !below.includes(path));
  const patterns = below.map((path) => `^${path.split(BELOW_ENTITY).map(luaPattern).join("/[^/]+/")}$`);
  return [
    `local OWN = set(${luaString(own.join(" "))})`,
    `local BELOW = words(${luaString(patterns.join(" "))})`,
    `local PUT_FIELDS = ${putFields === undefined ? "nil" : `words(${luaString(putFields.join(" "))})`}`,
  ].join("\n");
};

/** Literal text in a pattern of Lua. */
const luaPattern = (text: string): string => text.replaceAll(/[^A-Za-z0-9/]/g, "%$&");

const HEAD = `local byte, find, lower, sub, upper = string.byte, string.find, string.lower, string.sub, string.upper
local floor, gmatch, number = math.floor, string.gmatch, tonumber
local unpack = table.unpack or unpack
-- The greatest whole number that is exact.
local EXACT = 9007199254740991
-- R: readers of text forms. M: IDs that the table names one by one. T: regions of routes. N: segments of routes, by
-- the value at which each starts; C: the segments of the next field.
-- I: layouts of entities. D: what goes with their IDs. S: readings of a path's ID. P: path patterns. G: regions.
local R, M, N, C, T, I, D, S, P, G = {}, {}, {}, {}, {}, {}, {}, {}, {}, {}

local function numbers(text)
  local list = {}
  for one in gmatch(text, "%-?[0-9.]+") do list[#list + 1] = number(one) end
  return list
end

local function words(text)
  local list = {}
  for one in gmatch(text, "%S+") do list[#list + 1] = one end
  return list
end

local function set(text)
  local found = {}
  for one in gmatch(text, "%S+") do found[one] = true end
  return found
end

-- The value of each hex digit by its code; for any other code a value that differs from itself.
local function hexes(digits)
  local values = {}
  for code = 0, 255 do values[code] = 0 / 0 end
  for at = 1, #digits do values[byte(digits, at)] = number(sub(digits, at, at), 16) end
  return values
end
local FOLDED, LOWER, UPPER = hexes("0123456789abcdefABCDEF"), hexes("0123456789abcdef"), hexes("0123456789ABCDEF")

-- Where the values are few, each has its own cell.
local function flat(starts, leads, count)
  starts, leads = numbers(starts), numbers(leads)
  local cells, at = {}, 1
  for value = 0, count - 1 do
    while starts[at + 1] and starts[at + 1] <= value do at = at + 1 end
    cells[value] = leads[at]
  end
  return function(value) return cells[value] end
end

local function search(starts, leads)
  starts, leads = numbers(starts), numbers(leads)
  local count = #starts
  return function(value)
    local low, high = 1, count
    while low < high do
      local middle = floor((low + high + 1) / 2)
      if starts[middle] <= value then low = middle else high = middle - 1 end
    end
    return leads[low]
  end
end

-- Days above the low 32 bits, and units of 1/300 s in them.
local function sql_ms(value)
  local units = value % 4294967296
  return (value - units) / 4294967296 * 86400000 + floor(units * 10 / 3 + 0.5)
end

-- A number of more than 53 bits, divided in two exact steps.
local function wide_ms(high, low, ms, ticks)
  local whole = floor(high / ticks)
  return (whole * 4294967296.0 + floor(((high - whole * ticks) * 4294967296.0 + low) / ticks)) * ms
end

-- Reads a number in any numeral system into words of 32 bits.
local function reader(prefix, length, is_fixed, separators, digits, radix, count, top)
  return function(t)
    local from = #prefix
    local own = #t - from
    if own > length or own < 1 or is_fixed and own ~= length or sub(t, 1, from) ~= prefix then return nil end
    if not is_fixed and own > 1 and digits[byte(t, from + 1)] == 0 then return nil end
    local words = { 0, 0, 0, 0, 0 }
    for at = 0, own - 1 do
      local code = byte(t, from + at + 1)
      if separators[at] then
        if code ~= separators[at] then return nil end
      else
        local carry = digits[code]
        if not carry then return nil end
        for word = count, 1, -1 do
          local value = words[word] * radix + carry
          carry = floor(value / 4294967296)
          words[word] = value - carry * 4294967296
        end
        if carry ~= 0 then return nil end
      end
    end
    if words[1] >= top then return nil end
    return unpack(words, 1, count)
  end
end

-- Exclusive or: LuaJIT has it in a library, and Lua 5.3 as an operator that LuaJIT cannot parse.
local bits = bit
local xor = bits and function(a, b) return bits.bxor(a, b) % 4294967296 end
  or load("return function(a, b) return (a ~ b) % 4294967296 end")()

local function product(a, b)
  local low = a % 65536
  return (floor((a - low) / 65536) * b % 65536 * 65536 + low * b) % 4294967296
end

-- The hash by which an entity keeps to one origin of its region.
local function mix(...)
  local hash = 0
  for at = 1, select("#", ...) do
    hash = product(xor(hash, floor(select(at, ...))), 2246822507)
    hash = product(xor(hash, floor(hash / 8192)), 3266489909)
    hash = xor(hash, floor(hash / 65536))
  end
  return hash
end`;

const tailOf = (plan: ExportPlan): string => `
-- A literal before anything else; only a literal matches an empty segment.
local function walk(at, path, start, id_from, id_to)
  local one = P[at]
  if one.leaf then return one.leaf, id_from, id_to end
  local length = #path
  if start > length + 1 then return nil end
  local slash = find(path, "/", start, true)
  local stop = slash and slash - 1 or length
  local literal = one.lit[sub(path, start, stop)]
  if literal then
    local leaf, from, to = walk(literal, path, stop + 2, id_from, id_to)
    if leaf then return leaf, from, to end
  end
  if stop < start then return nil end
  if one.id then
    local leaf, from, to = walk(one.id, path, stop + 2, start, stop)
    if leaf then return leaf, from, to end
  end
  if one.any then return walk(one.any, path, stop + 2, id_from, id_to) end
  return nil
end

-- Characters that every program on the way leaves as they are. Others are for Waybill.
local PATH = "^/[%w%-._~!$&()*+,;=:@/]*"
local QUERY = "^%?[%w%-._~!$&()*+,;=:@/?%%%[%]]*$"

-- Where the path ends; nothing for a target with other characters.
local function path_end(target)
  local _, to = find(target, PATH)
  if not to or to < #target and not find(target, QUERY, to + 1) then return nil end
  return to
end

local waybill = { regions = G, ids = D }

-- target: raw path and query, as sent. now: Unix milliseconds. Returns the place of the region, or 0 for Waybill, or -1
-- where the table surely has no entity for the path; then what the ID is, its canonical text and its words.
function waybill.decide(target, now)
  local to = path_end(target)
  if not to then return 0 end
  return waybill.decide_path(sub(target, 1, to), now)
end

-- The same for the path of a target that is known to have no other characters.
function waybill.decide_path(path, now)
  -- A segment that begins with a dot may be one that others resolve.
  if find(path, "/.", 1, true) then return 0 end
  local first = byte(path, 2)
  if first == 45 or first == 97 or first == 109 then
    -- The gateway's own.
    if path == "/mint" or path == "/any" or path == "/-" or sub(path, 1, 3) == "/-/" or sub(path, 1, 5) == "/any/" then return 0 end
  end
  local leaf, id_from, id_to = walk(1, path, 2, 0, 0)
  if not leaf then return ${mayBeOwn(plan) ? "0" : 'path ~= "/" and -1 or 0'} end
  local reading = S[leaf]
  if not reading or id_to - id_from >= 128 then return 0 end
  return reading(sub(path, id_from, id_to), now)
end

-- Collections, those below an entity as patterns, and fields with which PUT may create; nil: with none too.
${createsText(plan)}

-- Whether a request may create an entity: Waybill must see it. field: gives a field of the request by its name.
function waybill.creates(method, path, field)
  if method == "POST" then
    if OWN[path] then return true end
    for at = 1, #BELOW do
      if find(path, BELOW[at]) then return true end
    end
  elseif method == "PUT" then
    if not PUT_FIELDS then return true end
    for at = 1, #PUT_FIELDS do
      if field(PUT_FIELDS[at]) then return true end
    end
  end
  return false
end

-- The place of the origin in the region's list: a share of the IDs by weight, and always the same one for the same ID.
function waybill.origin(region, hash)
  local weights = G[region].weights
  local total = 0
  for at = 1, #weights do total = total + weights[at] end
  local rest = hash / 4294967296 * total
  for at = 1, #weights do
    rest = rest - weights[at]
    if rest < 0 then return at end
  end
  return 1
end

return waybill
`;
