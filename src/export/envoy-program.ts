import { SESSION_COOKIE } from "../proxy/headers.ts";
import { METHODS } from "./common.ts";

/** The Envoy part around the decision. Both scripts decide by the same program: one names the cluster, one the fields. */

const SHARED = `
local find, match, lower, gsub = string.find, string.match, string.lower, string.gsub

-- A name whose last label is a number is an IPv4 address, or no host.
local function is_host(name)
  local last = match(name, "([^.]*)%.?$")
  if not find(last, "^%d+$") and not find(lower(last), "^0x%x*$") then return true end
  local a, b, c, d = match(name, "^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  for _, byte in ipairs({ a or "", b or "", c or "", d or "" }) do
    if not find(byte, "^%d%d?%d?$") or tonumber(byte) > 255 or find(byte, "^0%d") then return false end
  end
  return true
end

local function is_plain(headers)
  local host = headers:get(":authority")
  local name, port = match(host or "", "^([%w._-]+)(:?%d*)$")
  if not name or #name > 253 or #port > 6 or port == ":" or not is_host(name) then return false end
  if port ~= "" and tonumber(string.sub(port, 2)) > 65535 then return false end
  local method = headers:get(":method")
  if not find(" ${METHODS} ", " " .. method .. " ", 1, true) then return false end
  if headers:get("id-layout") or headers:get("upgrade") or headers:get("tracestate") or headers:get("max-forwards") then return false end
  if find(headers:get("cookie") or "", "${SESSION_COOKIE}", 1, true) then return false end
  if find(lower(headers:get("cdn-loop") or ""), lower(pseudonym), 1, true) then return false end
  return true
end

local function decide(headers)
  if not is_plain(headers) then return 0 end
  local path = match(headers:get(":path") or "", "^[^?]*")
  if decision.creates(headers:get(":method"), path, function(name) return headers:get(name) end) then return 0 end
  return decision.decide(headers:get(":path") or "", os.time() * 1000)
end
`;

export const ENVOY_SPECIFIER = `${SHARED}
function envoy_on_route(handle)
  local region = decide(handle:headers())
  if region > 0 and clusters[region] then return "waybill_" .. region end
  return has_waybill and "waybill" or "waybill_refuse"
end
`;

export const ENVOY_FILTER = `${SHARED}
local function is_stopped(name)
  local own = gsub(lower(name), "[_.]", "-")
  return stopped[own] or string.sub(own, 1, 8) == "waybill-" or string.sub(own, 1, 12) == "x-forwarded-"
end

local function is_traceparent(value)
  local version, trace, span, rest = match(value, "^([0-9a-f][0-9a-f])%-([0-9a-f]+)%-([0-9a-f]+)%-[0-9a-f][0-9a-f](.*)$")
  if not version or version == "ff" or #trace ~= 32 or #span ~= 16 then return false end
  if not find(trace, "[^0]") or not find(span, "[^0]") then return false end
  return rest == "" or version ~= "00" and string.sub(rest, 1, 1) == "-"
end

local function request(handle)
  local headers = handle:headers()
  local region, which, text, a, b, c, d, e = decide(headers)
  local address = match(handle:streamInfo():downstreamDirectRemoteAddress(), "^(.*):%d+$") or "unknown"
  local scheme = headers:get(":scheme") or "http"
  if region < 1 or not clusters[region] then
    if not has_waybill then
      local status, problem = "503", refused
      if region == -1 then status, problem = "404", unrouted end
      handle:respond({ [":status"] = status, ["content-type"] = "application/problem+json", ["cache-control"] = "no-store" }, problem)
      return
    end
    handle:streamInfo():dynamicMetadata():set("waybill_left", "is", "true")
    headers:remove("forwarded")
    headers:remove("x-forwarded-host")
    headers:replace("x-forwarded-for", gsub(address, "^%[(.*)%]$", "%1"))
    headers:replace("x-forwarded-proto", scheme)
    return
  end
  local gone = {}
  for name in pairs(headers) do
    if is_stopped(name) then gone[#gone + 1] = name end
  end
  for _, name in ipairs(gone) do headers:remove(name) end
  local about = decision.ids[which]
  local host = headers:get(":authority")
  local plain = gsub(address, "^%[(.*)%]$", "%1")
  local set = sets[about.entity]
  headers:replace("waybill-entity-id", text)
  for _, sent in ipairs(about.sent) do headers:replace(sent[1], string.format("%d", sent[2](a, b, c, d, e))) end
  headers:replace("x-forwarded-for", plain)
  headers:add("cdn-loop", pseudonym)
  local trace = headers:get("traceparent")
  if trace and not is_traceparent(trace) then headers:remove("traceparent") end
  if set == "minimal" then return end
  headers:replace("waybill-region", names[region])
  headers:replace("x-forwarded-host", host)
  headers:replace("x-forwarded-proto", scheme)
  headers:add("via", "1.1 " .. pseudonym)
  if set == "full" then
    headers:replace("waybill-layout", about.layout)
    headers:replace("waybill-revision", "0")
    local node = find(plain, ":", 1, true) and '"[' .. plain .. ']"' or plain
    headers:replace("forwarded", "for=" .. node .. ';host="' .. host .. '";proto=' .. scheme)
    handle:streamInfo():dynamicMetadata():set("waybill", "layout", about.layout)
  end
  handle:streamInfo():dynamicMetadata():set("waybill", "region", names[region])
end

-- A script that fails must not let a request pass with fields that should have stopped.
function envoy_on_request(handle)
  local ok, why = pcall(request, handle)
  if not ok then
    handle:logErr(tostring(why))
    handle:respond({ [":status"] = "500", ["content-type"] = "application/problem+json" }, '{"type":"/-/problems/internal-error","title":"Internal error","status":500}')
  end
end

function envoy_on_response(handle)
  local headers = handle:headers()
  local about = handle:streamInfo():dynamicMetadata():get("waybill")
  -- Waybill's own answers pass as they are.
  if handle:streamInfo():dynamicMetadata():get("waybill_left") then return end
  local gone = {}
  for name in pairs(headers) do
    if string.sub(lower(name), 1, 8) == "waybill-" then gone[#gone + 1] = name end
  end
  for _, name in ipairs(gone) do headers:remove(name) end
  headers:remove("proxy-authenticate")
  headers:remove("proxy-connection")
  if find(headers:get("set-cookie") or "", "${SESSION_COOKIE}", 1, true) then headers:remove("set-cookie") end
  if not about then return end
  headers:replace("waybill-region", about["region"])
  if about["layout"] then
    headers:replace("waybill-layout", about["layout"])
    headers:add("via", "1.1 " .. pseudonym)
  end
end
`;
