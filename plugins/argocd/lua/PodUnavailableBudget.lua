local wait = behind()
if wait then
  return wait
end
local found = of(count("currentAvailable"), count("totalReplicas"), "pods are available") .. ", " .. count("desiredAvailable") .. " must be; " .. count("unavailableAllowed") .. " may go"
if count("currentAvailable") < count("desiredAvailable") then
  return answer("Degraded", found)
end
return answer("Healthy", found)
