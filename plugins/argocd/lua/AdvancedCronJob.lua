if at("spec", "paused") then
  return answer("Suspended", "paused")
end
local active = #(at("status", "active") or {})
if active > 0 then
  return answer("Healthy", string.format("%d jobs run", active))
end
return answer("Healthy", "waits for its time")
