-- Requests for wrk: GET of the URL or, with the argument POST or PUT, such a request with a garden
-- entry of about 260 bytes by one of 1,000 visitors; with `keyed` as well, each has a key of its own.
-- Prints the result as JSON.

local words = {
  "presence", "breath", "garden", "dream", "river", "listening", "someone", "was", "here", "and",
  "left", "a", "trace", "of", "light", "between", "two", "questions", "that", "nobody", "asked",
  "before", "the", "morning", "came", "slowly", "through", "open", "doors", "we", "remember",
}

local function sentence(length)
  local text = ""
  while #text < length do
    text = text .. words[math.random(#words)] .. " "
  end
  return text
end

-- Two runs do not begin within a second.
local run = string.format("%010d", os.time())
local KEY = string.rep("k", 9)

local function send(method, keyed)
  math.randomseed(7)
  local start, before, after = {}, {}, {}
  for visitor = 1, 1000 do
    local tail = string.format(
      ' %s","identity":"visitor-%04d","identityType":"ai_entity"}', sentence(172), visitor)
    local head = '{"text":"Trace '
    wrk.method = method
    wrk.headers["Content-Type"] = "application/json"
    if keyed then wrk.headers["Idempotency-Key"] = '"' .. run .. KEY .. '"' end
    local whole = wrk.format(nil, nil, nil, head .. "000000000" .. tail)
    local at = whole:find("000000000", 1, true)
    if keyed then
      local key = whole:find(KEY, 1, true)
      start[visitor] = whole:sub(1, key - 1)
      before[visitor] = whole:sub(key + #KEY, at - 1)
    else
      before[visitor] = whole:sub(1, at - 1)
    end
    after[visitor] = whole:sub(at + 9)
  end
  local count = 0
  function request()
    count = count + 1
    local visitor = math.random(1000)
    local number = string.format("%09d", count)
    if keyed then return start[visitor] .. number .. before[visitor] .. number .. after[visitor] end
    return before[visitor] .. number .. after[visitor]
  end
end

function init(args)
  if args[1] then send(args[1], args[2] == "keyed") end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%.0f,"refused":%.0f,"broken":%.0f,"bytes":%.0f,"seconds":%.6f,"p99":%.3f}\n',
    summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    summary.bytes, summary.duration / 1e6, latency:percentile(99) / 1000))
end
