local wait = behind()
if wait then
  return wait
end
local found = of(count("currentAvailable"), count("totalReplicas"), "pods are available") .. ", " .. count("desiredAvailable") .. " must be; " .. count("unavailableAllowed") .. " may go"
-- Pods are missing before their workload comes, while it is updated and when it is broken.
-- Budgets go a wave before workloads: one that is not Healthy would keep out what brings the pods.
return answer("Healthy", found)
