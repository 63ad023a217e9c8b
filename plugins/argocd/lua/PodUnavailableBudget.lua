local wait = behind()
if wait then
  return wait
end
local found = string.format("%d of %d pods are available, %d must be; %d may go", count("currentAvailable"), count("totalReplicas"), count("desiredAvailable"), count("unavailableAllowed"))
if count("currentAvailable") < count("desiredAvailable") then
  return answer("Degraded", found)
end
return answer("Healthy", found)
