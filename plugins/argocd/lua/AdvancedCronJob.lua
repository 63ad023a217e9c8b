if at("spec", "paused") then
  return answer("Suspended", "paused")
end
local active = #(at("status", "active") or {})
if active > 0 then
  return answer("Healthy", active .. " jobs run")
end
return answer("Healthy", "waits for its time")
