local wait = behind()
if wait then
  return wait
end
local total = tonumber(at("spec", "replicas")) or 1
local partition = tonumber(at("spec", "updateStrategy", "rollingUpdate", "partition")) or 0
local expected = left(total, partition)
if at("spec", "updateStrategy", "type") == "OnDelete" then
  expected = 0
end
local bad = {FailedCreatePod = "True", FailedUpdatePod = "True"}
if count("replicas") ~= total then
  return failing(answer("Progressing", of(count("replicas"), total, "pods exist")), bad)
end
return failing(rollout({
  total = total, updated = count("updatedReplicas"), available = count("availableReplicas"), expected = expected,
  paused = at("spec", "updateStrategy", "rollingUpdate", "paused"),
}), bad)
