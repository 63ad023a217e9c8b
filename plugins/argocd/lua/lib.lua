-- Put before each health script. Argo CD opens neither string nor math for these scripts:
-- they have the base and table libraries alone. Counts of zero are left out of a status.
local function count(field)
  local v = obj.status and obj.status[field]
  return tonumber(v) or 0
end

local function answer(status, message)
  return {status = status, message = message}
end

local function condition(type)
  for _, c in ipairs(obj.status and obj.status.conditions or {}) do
    if c.type == type then
      return c
    end
  end
end

-- behind is an answer while the controller has not processed the latest change yet.
local function behind()
  if obj.status == nil then
    return answer("Progressing", "the controller has not seen it yet")
  end
  local seen = tonumber(obj.status.observedGeneration)
  if seen ~= nil and obj.metadata.generation ~= nil and seen < obj.metadata.generation then
    return answer("Progressing", "the controller has not processed the latest change yet")
  end
end

local function at(...)
  local v = obj
  for _, key in ipairs({...}) do
    if type(v) ~= "table" then
      return nil
    end
    v = v[key]
  end
  return v
end

local function least(a, b)
  if a < b then
    return a
  end
  return b
end

-- left is how many of total remain when some are taken away.
local function left(total, some)
  return total - least(some, total)
end

-- of says how many of how many are what.
local function of(n, total, what)
  return n .. " of " .. total .. " " .. what
end

-- down and up round n / 100 of total, both whole numbers.
local function down(n, total)
  return (n * total - n * total % 100) / 100
end

local function up(n, total)
  return -down(-n, total)
end

-- scaled is a number or a percentage of total; round is down or up.
local function scaled(v, total, round)
  for n = 0, 100 do
    if v == n .. "%" then
      return round(n, total)
    end
  end
  return tonumber(v) or 0
end

local function starts(text, with, after)
  return text >= with and text < after
end

-- rollout judges a workload whose pods are replaced step by step: of total pods,
-- expected are to be updated now. One that stopped where its spec says is Healthy: a
-- sync waits for Suspended as it does for Progressing.
local function rollout(w)
  if w.updated < w.expected then
    if w.paused then
      return answer("Suspended", "paused: " .. of(w.updated, w.total, "pods are updated"))
    end
    return answer("Progressing", of(w.updated, w.expected, "pods are updated"))
  end
  if w.available < w.total then
    return answer("Progressing", of(w.available, w.total, "pods are available"))
  end
  if w.updated < w.total then
    if at("spec", "updateStrategy", "type") == "OnDelete" then
      return answer("Healthy", of(w.updated, w.total, "updated, the others are updated when they are deleted"))
    end
    return answer("Healthy", of(w.updated, w.total, "updated, stopped at its partition"))
  end
  return answer("Healthy", "all " .. w.total .. " pods are updated and available")
end

-- failing turns an answer that waits into what it waits for, where the controller says
-- that it fails. Such conditions stay when all is well again, and conflicts of two
-- writers pass by themselves.
local function failing(found, bad)
  if found.status ~= "Progressing" then
    return found
  end
  for type, status in pairs(bad) do
    local c = condition(type)
    local message = c and c.message or ""
    -- A conflict's message starts so in every API server; "!" follows the space.
    local conflict = starts(message, "Operation cannot be fulfilled on ", "Operation cannot be fulfilled on!")
    if c and c.status == status and not conflict then
      return answer("Degraded", c.message or type)
    end
  end
  return found
end
