local wait = behind()
if wait then
  return wait
end
local off = {}
for _, s in ipairs(obj.status.subsetStatuses or {}) do
  for _, c in ipairs(s.conditions or {}) do
    if c.type == "Schedulable" and c.status == "False" then
      table.insert(off, s.name)
    end
  end
end
if #off > 0 then
  return answer("Healthy", "pods go elsewhere than to " .. table.concat(off, ", ") .. " for now")
end
return answer("Healthy", "all subsets take pods")
