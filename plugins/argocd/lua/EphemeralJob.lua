local found = of(count("succeeded"), count("match"), "pods are done") .. ", " .. count("failed") .. " failed"
local phase = at("status", "phase")
if phase == "Succeeded" then
  return answer("Healthy", found)
end
if phase == "Failed" or phase == "Error" then
  return answer("Degraded", found)
end
if at("spec", "paused") then
  return answer("Suspended", "paused: " .. found)
end
return answer("Progressing", found)
