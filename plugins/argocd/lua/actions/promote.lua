-- The whole way: partitions are steps of whoever holds a plan, which Argo CD does not.
if obj.kind == "UnitedDeployment" then
  local manual = obj.spec.updateStrategy and obj.spec.updateStrategy.manualUpdate
  for name, _ in pairs(manual and manual.partitions or {}) do
    manual.partitions[name] = 0
  end
else
  strategy().partition = 0
end
return obj
