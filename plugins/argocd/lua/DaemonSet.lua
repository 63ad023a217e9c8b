local wait = behind()
if wait then
  return wait
end
local total = count("desiredNumberScheduled")
local expected = left(total, scaled(at("spec", "updateStrategy", "rollingUpdate", "partition"), total, down))
if at("spec", "updateStrategy", "type") == "OnDelete" then
  expected = 0
end
return rollout({
  total = total, updated = count("updatedNumberScheduled"), available = count("numberAvailable"), expected = expected,
  paused = at("spec", "updateStrategy", "rollingUpdate", "paused"),
})
