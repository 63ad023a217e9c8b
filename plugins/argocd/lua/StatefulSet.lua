local wait = behind()
if wait then
  return wait
end
local total = tonumber(at("spec", "replicas")) or 1
local partition = tonumber(at("spec", "updateStrategy", "rollingUpdate", "partition")) or 0
local expected = math.max(total - partition, 0)
if at("spec", "updateStrategy", "type") == "OnDelete" then
  expected = 0
end
local bad = {FailedCreatePod = "True", FailedUpdatePod = "True"}
if count("replicas") ~= total then
  return failing(answer("Progressing", string.format("%d of %d pods exist", count("replicas"), total)), bad)
end
return failing(rollout({
  total = total, updated = count("updatedReplicas"), available = count("availableReplicas"), expected = expected,
  paused = at("spec", "updateStrategy", "rollingUpdate", "paused"),
}), bad)
