import { SESSION_COOKIE } from "../proxy/headers.ts";
import { METHODS } from "./common.ts";

/** The nginx part around the decision. It runs once for each request, and looks at rare cases only where they occur. */
export const NGINX_PROGRAM = `
local decision = require "waybill_decision"
local find, lower = string.find, string.lower
local exec, method_of, now = ngx.exec, ngx.req.get_method, ngx.now
local base, ffi = require "resty.core.base", require "ffi"
local C = ffi.C
-- Kept for good: what is only in a register may be collected while it is read.
local FIELDS_MAX = 128
local cut, fields = ffi.new("int[1]"), ffi.new("ngx_http_lua_ffi_table_elt_t[?]", FIELDS_MAX)
local failures = ngx.shared.waybill_failures
local ids = decision.ids
local SESSION = "${SESSION_COOKIE}"

local names = {}
for _, region in ipairs(regions) do
  names[region.at] = {}
  for entity, class in pairs(region.classes) do
    names[region.at][entity] = {}
    for origin = 1, region.count do
      names[region.at][entity][origin] = "@waybill_" .. region.at .. "_" .. origin .. "_" .. class
    end
  end
end

-- The path is from nginx's own expression: LuaJIT cannot compile patterns. It is empty where Waybill decides.
local function decide(path)
  if path == "" then return 0 end
  return decision.decide_path(path, now() * 1000)
end

local SAFE = { GET = true, HEAD = true, OPTIONS = true }
local IDEMPOTENT = { GET = true, HEAD = true, OPTIONS = true, PUT = true, DELETE = true }

local waybill = {}

local function problem(name)
  local status, text = problems[name][1], problems[name][2]
  ngx.status = status
  ngx.header["content-type"] = "application/problem+json"
  ngx.header["cache-control"] = "no-store"
  if status == 503 then ngx.header["retry-after"] = "2" end
  ngx.print(text, "\\n")
  return ngx.exit(status)
end

function waybill.refuse()
  return problem(ngx.var.waybill_status == "unrouted" and "unrouted-path" or "left")
end

local function leave(region)
  if region == -1 and not has_waybill then ngx.var.waybill_status = "unrouted" end
  return exec("@waybill")
end

local function joined(name)
  local value = ngx.req.get_headers(0)[name]
  return type(value) == "table" and table.concat(value, ", ") or value
end

-- Options of connection that name fields: those stop here. A variable would hold the first of two fields alone.
local function names_fields(var)
  local options = var.http_connection and joined("connection") or ""
  if ngx.re.find(options, [[^(?:(?:close|keep-alive)?\\s*(?:,\\s*|$))*$]], "ijo") then return false end
  var.waybill_connection = options
  return true
end

-- Fields that few requests have. False: Waybill looks at them.
local function extras(var, method)
  if names_fields(var) or var.http_id_layout or var.http_upgrade or var.http_tracestate then return false end
  if find(var.http_cookie or "", SESSION, 1, true) then return false end
  if var.http_traceparent and not find(joined("traceparent"), ",", 1, true) then var.waybill_trace = var.waybill_given_trace end
  if method == "OPTIONS" and var.http_max_forwards then return false end
  if var.http_cdn_loop then
    local loop = joined("cdn-loop")
    if find(lower(loop), lower(pseudonym), 1, true) then return false end
    var.waybill_loop = loop .. ", " .. pseudonym
  end
  if var.http_via then var.waybill_via = joined("via") .. ", 1.1 " .. pseudonym end
  return true
end

-- Fields that few requests have, by length and first letter: another name alike only costs the longer way.
local RARE = {}
for name in string.gmatch("cdn-loop connection content-length id-layout max-forwards traceparent tracestate transfer-encoding upgrade via", "%S+") do
  RARE[#name * 256 + string.byte(name)] = true
end

-- Whether some name may begin with waybill- or x-forwarded-, nil for too many to look at; and whether a field may be a rare
-- one. Names are read where they are.
local function scan_fields()
  local request = base.get_request()
  local count = C.ngx_http_lua_ffi_req_get_headers_count(request, 0, cut)
  if count > FIELDS_MAX or C.ngx_http_lua_ffi_req_get_headers(request, fields, count, 1) ~= 0 then return nil, true end
  local is_suspect, has_rare = false, false
  for at = 0, count - 1 do
    local key, value = fields[at].key, fields[at].value
    local length, first = key.len, bit.bor(key.data[0], 32)
    if RARE[length * 256 + first] then
      local text = length == 10 and first == 99 and ffi.string(value.data, value.len)
      if text ~= "keep-alive" and text ~= "close" then has_rare = true end
    elseif length == 6 and first == 99 then
      has_rare = has_rare or find(ffi.string(value.data, value.len), SESSION, 1, true) ~= nil
    elseif length >= 8 and (first == 119 or first == 120 and bit.bor(key.data[2], 32) == 102) then
      is_suspect = true
    end
  end
  return is_suspect, has_rare
end

local function strip()
  for name in pairs(ngx.req.get_headers(0, true)) do
    local own = lower(name)
    if find(own, "^waybill%-") or find(own, "^x%-forwarded%-") then ngx.req.clear_header(name) end
  end
end

local function has_body(var)
  local length = var.content_length
  return var.http_transfer_encoding ~= nil or (length ~= nil and length ~= "" and length ~= "0")
end

-- All origins in turn, as Waybill asks them: the ID's own one, the region's others, then those of other regions.
local function candidates(region, hash, method, is_whole)
  local list = {}
  local function add(at)
    local weights, first = decision.regions[at].weights, decision.origin(at, hash)
    list[#list + 1] = { at, first }
    for other, weight in ipairs(weights) do
      if other ~= first and weight > 0 then list[#list + 1] = { at, other } end
    end
  end
  add(region)
  local own, one = #list, regions[region]
  if IDEMPOTENT[method] and (SAFE[method] or one.writes) then
    for _, other in ipairs(one.failover) do add(other) end
  end
  local sends = IDEMPOTENT[method] and is_whole and 4 or 1
  -- Other regions keep their turn, however many origins this one has.
  if #list > own then
    while own > sends - 1 and own > 1 do table.remove(list, own); own = own - 1 end
  elseif #list == 1 then
    list[2] = list[1]
  end
  return list, sends
end

local function is_open(at, origin)
  return failures:get("open " .. at .. " " .. origin)
end

local function choose(region, hash, method, var)
  local first = decision.origin(region, hash)
  if not is_open(region, first) then return region, first end
  for turn, one in ipairs(candidates(region, hash, method, not has_body(var))) do
    if not is_open(one[1], one[2]) then
      var.waybill_turn = turn
      return one[1], one[2]
    end
  end
  return region, first
end

local function send(var, is_suspect, region, which, text, a, b, c, d, e)
  if region < 1 then return leave(region) end
  local about, one = ids[which], regions[region]
  if is_suspect then strip() end
  for _, slice in ipairs(about.sent) do ngx.req.set_header(slice[1], string.format("%d", slice[2](a, b, c, d, e))) end
  var.waybill_id = text
  var.waybill_layout = about.layout
  if one.count == 1 and not one.failover[1] then return exec(names[region][about.entity][1]) end
  if not about.hash then return leave(0) end
  local at, origin = choose(region, about.hash(a, b, c, d, e), var.request_method, var)
  return exec(names[at][about.entity][origin])
end

-- Apart: LuaJIT compiles no function that makes another one.
local function route_slowly(var, method, path, is_suspect)
  local is_left = not extras(var, method) or is_suspect == nil
    or not find(" ${METHODS} ", " " .. method .. " ", 1, true) or SAFE[method] and has_body(var)
  local field = function(name) return var["http_" .. string.gsub(name, "-", "_")] end
  if decision.creates(method, path, field) then return leave(0) end
  if is_left then return leave(decide(path) == -1 and -1 or 0) end
  return send(var, is_suspect, decide(path))
end

function waybill.route()
  local var = ngx.var
  local method, path, is_suspect, has_rare = method_of(), var.waybill_path, scan_fields()
  if has_rare or not SAFE[method] then return route_slowly(var, method, path, is_suspect) end
  return send(var, is_suspect, decide(path))
end

local function note(at, origin)
  local breaker = regions[at].breaker
  if not breaker then return end
  local key = at .. " " .. origin
  local count = failures:incr("count " .. key, 1, 0, breaker.seconds)
  if count and count >= breaker.failures then
    failures:set("open " .. key, true, breaker.seconds)
    failures:delete("count " .. key)
  end
end

-- The request is decided again: nothing had to be remembered for the many that do not fail.
function waybill.failed(status)
  local var = ngx.var
  local name = status == 504 and "origin-timeout" or "origin-unreachable"
  local region, which, text, a, b, c, d, e = decide(var.waybill_path)
  if region < 1 or not ids[which].hash then return problem(name) end
  local about, turn = ids[which], tonumber(var.waybill_turn) or 1
  local list, sends = candidates(region, about.hash(a, b, c, d, e), var.request_method, not has_body(var))
  local failed = list[turn]
  note(failed[1], failed[2])
  local sent = (tonumber(var.waybill_status) or 0) + 1
  for next = turn + 1, #list do
    local one = list[next]
    local is_same = one[1] == failed[1] and one[2] == failed[2]
    if sent >= sends then break end
    if not (is_same and status == 504) and (is_same or not is_open(one[1], one[2])) then
      var.waybill_turn, var.waybill_status = next, sent
      return exec(names[one[1]][about.entity][one[2]])
    end
  end
  return problem(name)
end

-- Answers that are none, which nginx would pass, and the console's session, which no origin sets.
function waybill.filter()
  if ngx.status < 200 or ngx.status > 599 or ngx.req.http_version() < 1 then return ngx.exit(ngx.ERROR) end
  local cookies, kept = ngx.header["set-cookie"], {}
  if not cookies then return end
  for _, cookie in ipairs(type(cookies) == "table" and cookies or { cookies }) do
    if not find(cookie, SESSION, 1, true) then kept[#kept + 1] = cookie end
  end
  ngx.header["set-cookie"] = kept
end

return waybill
`;
