if obj.status == nil then
  return answer("Progressing", "the node has not seen it yet")
end
local found = string.format("%d of %d images are there, %d failed", count("succeeded"), count("desired"), count("failed"))
if count("failed") > 0 then
  return answer("Degraded", found)
end
if count("pulling") + count("waiting") > 0 then
  return answer("Progressing", found)
end
return answer("Healthy", found)
