-- A changed annotation would be written onto running pods in place: only a variable
-- restarts containers.
local os = require("os")
local now = os.date("!%Y-%m-%dT%XZ")
for _, template in ipairs(templates()) do
  for _, container in ipairs(template.spec and template.spec.containers or {}) do
    if container.env == nil then
      container.env = {}
    end
    local found = false
    for _, e in ipairs(container.env) do
      if e.name == "RESTARTED_AT" then
        e.value, e.valueFrom, found = now, nil, true
      end
    end
    if not found then
      table.insert(container.env, {name = "RESTARTED_AT", value = now})
    end
  end
end
return obj
