-- Put before each action. Argo CD opens neither string nor math for actions.
if obj.spec == nil then
  obj.spec = {}
end

-- Strategies of CloneSets are one level higher in v1alpha1.
local function strategy()
  local s = obj.spec.updateStrategy
  if s == nil then
    s = {}
    obj.spec.updateStrategy = s
  end
  if obj.kind == "SidecarSet" or (obj.kind == "CloneSet" and obj.apiVersion == "apps.kruise.io/v1alpha1") then
    return s
  end
  if s.rollingUpdate == nil then
    s.rollingUpdate = {}
  end
  return s.rollingUpdate
end

local function templates()
  if obj.kind ~= "UnitedDeployment" then
    return {obj.spec.template}
  end
  local found = {}
  for _, field in ipairs({"statefulSetTemplate", "advancedStatefulSetTemplate", "cloneSetTemplate", "deploymentTemplate"}) do
    local t = obj.spec.template and obj.spec.template[field]
    if t ~= nil and t.spec ~= nil then
      table.insert(found, t.spec.template)
    end
  end
  return found
end
