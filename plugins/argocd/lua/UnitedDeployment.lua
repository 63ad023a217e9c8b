local wait = behind()
if wait then
  return wait
end
local total = tonumber(at("spec", "replicas")) or count("replicas")
local held = 0
local partitions = at("spec", "updateStrategy", "manualUpdate", "partitions") or {}
for _, subset in ipairs(obj.status.subsetStatuses or {}) do
  held = held + least(tonumber(partitions[subset.name]) or 0, tonumber(subset.replicas) or 0)
end
local bad = {SubsetProvisioned = "False", SubsetUpdated = "False", SubsetFailure = "True"}
if count("replicas") ~= total then
  return failing(answer("Progressing", of(count("replicas"), total, "pods exist")), bad)
end
return failing(rollout({total = total, updated = count("updatedReplicas"), available = count("readyReplicas"), expected = left(total, held)}), bad)
