if obj.status == nil then
  return answer("Progressing", "the node has not seen it yet")
end
local found = of(count("succeeded"), count("desired"), "images are there") .. ", " .. count("failed") .. " failed"
if count("failed") > 0 then
  return answer("Degraded", found)
end
if count("pulling") + count("waiting") > 0 then
  return answer("Progressing", found)
end
return answer("Healthy", found)
