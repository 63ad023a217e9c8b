local wait = behind()
if wait then
  return wait
end
local total = tonumber(at("spec", "replicas")) or 1
local bad = {FailedScale = "True", FailedUpdate = "True"}
if count("replicas") ~= total then
  return failing(answer("Progressing", of(count("replicas"), total, "pods exist")), bad)
end
local expected = least(count("expectedUpdatedReplicas"), total)
if at("spec", "updateStrategy", "type") == "OnDelete" then
  expected = 0
end
return failing(rollout({
  total = total, updated = count("updatedReplicas"), available = count("availableReplicas"), expected = expected,
  -- v1alpha1 has it one level higher than v1beta1
  paused = at("spec", "updateStrategy", "paused") or at("spec", "updateStrategy", "rollingUpdate", "paused"),
}), bad)
