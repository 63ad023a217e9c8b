if at("spec", "paused") then
  return answer("Suspended", "paused")
end
local found = string.format("%d of %d pods are done, %d failed", count("succeeded"), count("match"), count("failed"))
local phase = at("status", "phase")
if phase == "Succeeded" then
  return answer("Healthy", found)
end
if phase == "Failed" or phase == "Error" then
  return answer("Degraded", found)
end
return answer("Progressing", found)
