local wait = behind()
if wait then
  return wait
end
local matched, updated, ready = count("matchedPods"), count("updatedPods"), count("readyPods")
local strategy = at("spec", "updateStrategy") or {}
local held = scaled(strategy.partition, matched, math.ceil)
if matched > 1 and held >= matched and type(strategy.partition) == "string" and strategy.partition ~= "100%" then
  held = matched - 1
end
if updated < matched then
  local found = string.format("%d of %d pods have the newest sidecar", updated, matched)
  if strategy.type == "NotUpdate" then
    return answer("Healthy", found .. "; the others get it when they are created anew")
  end
  if strategy.paused then
    return answer("Suspended", "paused: " .. found)
  end
  if strategy.selector then
    return answer("Suspended", "only pods that its selector takes are updated: " .. found)
  end
  if updated >= matched - held then
    return answer("Suspended", "stopped at its partition: " .. found)
  end
  return answer("Progressing", found)
end
if ready < matched then
  return answer("Progressing", string.format("%d of %d pods are ready", ready, matched))
end
return answer("Healthy", string.format("all %d pods have the newest sidecar", matched))
