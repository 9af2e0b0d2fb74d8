/** What surrounds the decision in nginx. It runs once for each request; what is rare is looked at only where it is there. */
export const NGINX_PROGRAM = `
local decision = require "waybill_decision"
local find, lower, match = string.find, string.lower, string.match
local random = math.random
local base, ffi = require "resty.core.base", require "ffi"
local C = ffi.C
local cut, field = ffi.new("int[1]"), ffi.typeof("ngx_http_lua_ffi_table_elt_t*")
local failures = ngx.shared.waybill_failures
local ids = decision.ids

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

-- nginx's own expressions are faster than patterns, which LuaJIT cannot compile.
local function decide(var)
  local path = var.waybill_path
  if path == "" then return 0 end
  return decision.decide_path(path, ngx.now() * 1000)
end

local SAFE = { GET = true, HEAD = true, OPTIONS = true }
local IDEMPOTENT = { GET = true, HEAD = true, OPTIONS = true, PUT = true, DELETE = true }

local function is_host(host)
  local name, port = match(host or "", "^([%w._-]+)(:?%d*)$")
  return name and #name <= 253 and #port <= 6 and port ~= ":"
end

local function word() return random(0, 4294967295) end
local function trace(given)
  if given ~= "" then return given end
  return string.format("00-%08x%08x%08x%08x-%08x%08x-00", word(), word(), word(), word(), word(), word())
end

local waybill = {}

-- Each process draws its own traces.
function waybill.seed()
  local file = assert(io.open("/dev/urandom", "rb"))
  local hex = string.gsub(file:read(6), ".", function(code) return string.format("%02x", string.byte(code)) end)
  file:close()
  math.randomseed(tonumber(hex, 16))
end

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
  return ngx.exec("@waybill")
end

local function joined(name)
  local value = ngx.req.get_headers(0)[name]
  return type(value) == "table" and table.concat(value, ", ") or value
end

-- Fields that few requests have. False: Waybill looks at them.
local function extras(var, method)
  if var.http_id_layout or var.http_upgrade or var.http_tracestate then return false end
  if method == "OPTIONS" and var.http_max_forwards then return false end
  if var.http_cdn_loop then
    local loop = joined("cdn-loop")
    if find(lower(loop), "waybill", 1, true) then return false end
    var.waybill_loop = loop .. ", waybill"
  end
  if var.http_via then var.waybill_via = joined("via") .. ", 1.1 waybill" end
  return true
end

-- Whether some name may begin with waybill- or x-forwarded-: the names are looked at where they are.
local function is_suspect()
  local request = base.get_request()
  local count = C.ngx_http_lua_ffi_req_get_headers_count(request, 0, cut)
  local list = ffi.cast(field, base.get_string_buf(count * ffi.sizeof("ngx_http_lua_ffi_table_elt_t")))
  if C.ngx_http_lua_ffi_req_get_headers(request, list, count, 1) ~= 0 then return true end
  for at = 0, count - 1 do
    local key = list[at].key
    if key.len > 8 then
      local first, third = bit.bor(key.data[0], 32), bit.bor(key.data[2], 32)
      if first == 119 or first == 120 and third == 102 then return true end
    end
  end
  return false
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
    local weights = decision.regions[at].weights
    local first = decision.origin(at, hash)
    list[#list + 1] = { at, first }
    for other = 1, #weights do
      if other ~= first and weights[other] > 0 then list[#list + 1] = { at, other } end
    end
  end
  add(region)
  local own = #list
  local one = regions[region]
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
  local list = candidates(region, hash, method, not has_body(var))
  for _, one in ipairs(list) do
    if not is_open(one[1], one[2]) then return one[1], one[2] end
  end
  return region, list[1][2]
end

local function send(var, region, which, text, a, b, c, d, e)
  if region < 1 then return leave(region) end
  local about = ids[which]
  local one = regions[region]
  if is_suspect() then strip() end
  local sent = about.sent
  for at = 1, #sent do ngx.req.set_header(sent[at][1], string.format("%d", sent[at][2](a, b, c, d, e))) end
  var.waybill_id = text
  var.waybill_layout = about.layout
  var.waybill_traceparent = trace(var.waybill_given_trace)
  if one.count == 1 and not one.failover[1] then return ngx.exec(names[region][about.entity][1]) end
  if not about.hash then return leave(0) end
  local at, origin = choose(region, about.hash(a, b, c, d, e), var.request_method, var)
  return ngx.exec(names[at][about.entity][origin])
end

function waybill.route()
  local var = ngx.var
  local path = var.waybill_plain
  if path ~= "" then return send(var, decision.decide_path(path, ngx.now() * 1000)) end
  local method = var.request_method
  local is_left = not is_host(var.http_host) or var.waybill_connection ~= ""
    or var.waybill_extra ~= "" and not extras(var, method)
    or method == "TRACE" or method == "CONNECT" or SAFE[method] and has_body(var)
  local field = function(name) return var["http_" .. string.gsub(name, "-", "_")] end
  if decision.creates(method, var.waybill_path, field) then return leave(0) end
  if is_left then return leave(decide(var) == -1 and -1 or 0) end
  return send(var, decide(var))
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
  local region, which, text, a, b, c, d, e = decide(var)
  if region < 1 or not ids[which].hash then return problem(name) end
  local about = ids[which]
  local list, sends = candidates(region, about.hash(a, b, c, d, e), var.request_method, not has_body(var))
  local turn = tonumber(var.waybill_turn) or 0
  if turn == 0 then
    -- Origins that were passed over come first in the list.
    for at, one in ipairs(list) do
      turn = at
      if not is_open(one[1], one[2]) then break end
    end
  end
  local failed = list[turn]
  note(failed[1], failed[2])
  local sent = (tonumber(var.waybill_status) or 0) + 1
  for next = turn + 1, #list do
    local one = list[next]
    local is_same = one[1] == failed[1] and one[2] == failed[2]
    if sent >= sends then break end
    if not (is_same and status == 504) and (is_same or not is_open(one[1], one[2])) then
      var.waybill_turn = tostring(next)
      var.waybill_status = tostring(sent)
      return ngx.exec(names[one[1]][about.entity][one[2]])
    end
  end
  return problem(name)
end

return waybill
`;
