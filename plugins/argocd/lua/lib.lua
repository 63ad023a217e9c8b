-- Put before each health script. Counts of zero are left out of a status.
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

-- behind is an answer while the controller has not seen the newest spec.
local function behind()
  if obj.status == nil then
    return answer("Progressing", "the controller has not seen it yet")
  end
  local seen = tonumber(obj.status.observedGeneration)
  if seen ~= nil and obj.metadata.generation ~= nil and seen < obj.metadata.generation then
    return answer("Progressing", "the controller has not seen the newest spec yet")
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

-- scaled is a number or a percentage of total; round is math.ceil or math.floor.
local function scaled(v, total, round)
  if type(v) == "string" and string.sub(v, -1) == "%" then
    return round((tonumber(string.sub(v, 1, -2)) or 0) * total / 100)
  end
  return tonumber(v) or 0
end

-- rollout judges a workload whose pods are replaced step by step: of total pods,
-- expected are to be updated now.
local function rollout(w)
  if w.updated < w.expected then
    if w.paused then
      return answer("Suspended", string.format("paused: %d of %d pods are updated", w.updated, w.total))
    end
    return answer("Progressing", string.format("%d of %d pods are updated", w.updated, w.expected))
  end
  if w.available < w.total then
    return answer("Progressing", string.format("%d of %d pods are available", w.available, w.total))
  end
  if w.updated < w.total then
    return answer("Suspended", string.format("stopped at its partition: %d of %d pods are updated", w.updated, w.total))
  end
  return answer("Healthy", string.format("all %d pods are updated and available", w.total))
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
    if c and c.status == status and not string.find(c.message or "", "the object has been modified", 1, true) then
      return answer("Degraded", c.message or type)
    end
  end
  return found
end
