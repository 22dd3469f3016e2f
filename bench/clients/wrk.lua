-- Requests for wrk: GET of the URL or, with the argument POST or PUT, such a request with a garden
-- entry of about 260 bytes by one of 1,000 visitors. Prints the result as JSON.

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

local function send(method)
  math.randomseed(7)
  local before, after = {}, {}
  for visitor = 1, 1000 do
    local tail = string.format(
      ' %s","identity":"visitor-%04d","identityType":"ai_entity"}', sentence(172), visitor)
    local head = '{"text":"Trace '
    wrk.method = method
    wrk.headers["Content-Type"] = "application/json"
    local whole = wrk.format(nil, nil, nil, head .. "000000000" .. tail)
    local at = whole:find("000000000", 1, true)
    before[visitor] = whole:sub(1, at - 1)
    after[visitor] = whole:sub(at + 9)
  end
  local count = 0
  function request()
    count = count + 1
    local visitor = math.random(1000)
    return before[visitor] .. string.format("%09d", count) .. after[visitor]
  end
end

function init(args)
  if args[1] then send(args[1]) end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%.0f,"refused":%.0f,"broken":%.0f,"bytes":%.0f,"seconds":%.6f,"p99":%.3f}\n',
    summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    summary.bytes, summary.duration / 1e6, latency:percentile(99) / 1000))
end
