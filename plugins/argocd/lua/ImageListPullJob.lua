if obj.status == nil then
  return answer("Progressing", "the controller has not seen it yet")
end
local found = of(count("succeeded"), count("desired"), "images are on all nodes") .. ", " .. count("completed") .. " are done"
if obj.status.completionTime == nil then
  if at("spec", "completionPolicy", "type") == "Never" and count("desired") > 0 and count("succeeded") == count("desired") then
    return answer("Healthy", found .. "; it goes on with new nodes")
  end
  return answer("Progressing", found)
end
if count("succeeded") < count("desired") then
  return answer("Degraded", found)
end
return answer("Healthy", found)
