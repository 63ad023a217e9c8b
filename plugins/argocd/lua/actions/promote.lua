-- Promotes to the end: only a tool with a plan can go step by step, and Argo CD has none.
if obj.kind == "UnitedDeployment" then
  local manual = obj.spec.updateStrategy and obj.spec.updateStrategy.manualUpdate
  for name, _ in pairs(manual and manual.partitions or {}) do
    manual.partitions[name] = 0
  end
else
  strategy().partition = 0
end
return obj
