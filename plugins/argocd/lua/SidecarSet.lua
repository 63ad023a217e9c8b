local wait = behind()
if wait then
  return wait
end
local matched, updated, ready = count("matchedPods"), count("updatedPods"), count("readyPods")
local strategy = at("spec", "updateStrategy") or {}
local held = scaled(strategy.partition, matched, up)
if matched > 1 and held >= matched and type(strategy.partition) == "string" and strategy.partition ~= "100%" then
  held = matched - 1
end
if updated < matched then
  local found = of(updated, matched, "pods have the newest sidecar")
  if strategy.type == "NotUpdate" then
    return answer("Healthy", found .. "; the others get it when they are recreated")
  end
  if strategy.paused then
    return answer("Suspended", "paused: " .. found)
  end
  -- The status does not say how many pods the selector takes.
  if not strategy.selector and updated < left(matched, held) then
    return answer("Progressing", found)
  end
end
-- Whether pods are ready is the health of their workloads. SidecarSets go a wave before these: one
-- that waits for the pods of a broken workload would keep out the template that mends it.
local readiness = ""
if ready < matched then
  readiness = "; " .. of(ready, matched, "pods are ready")
end
if updated < matched and strategy.selector then
  return answer("Healthy", of(updated, matched, "updated, only pods that its selector takes are") .. readiness)
end
if updated < matched then
  return answer("Healthy", of(updated, matched, "updated, stopped at its partition") .. readiness)
end
return answer("Healthy", "all " .. matched .. " pods have the newest sidecar" .. readiness)
