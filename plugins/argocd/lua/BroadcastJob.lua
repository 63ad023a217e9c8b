if obj.status == nil then
  return answer("Progressing", "the controller has not seen it yet")
end
local found = of(count("succeeded"), count("desired"), "nodes are done") .. ", " .. count("failed") .. " failed"
local phase = obj.status.phase
if phase == "failed" then
  return answer("Degraded", found)
end
if phase == "paused" or at("spec", "paused") then
  return answer("Suspended", "paused: " .. found)
end
if phase == "completed" then
  if count("failed") > 0 then
    return answer("Degraded", found)
  end
  return answer("Healthy", found)
end
if at("spec", "completionPolicy", "type") == "Never" and count("active") == 0 and count("failed") == 0 and count("succeeded") == count("desired") then
  return answer("Healthy", found .. "; it goes on with new nodes")
end
return answer("Progressing", found)
