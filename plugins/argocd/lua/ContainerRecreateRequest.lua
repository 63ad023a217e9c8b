local states, done = at("status", "containerRecreateStates") or {}, 0
for _, s in ipairs(states) do
  if s.phase == "Succeeded" then
    done = done + 1
  end
end
local found = of(done, #(at("spec", "containers") or {}), "containers restarted")
if at("status", "phase") ~= "Completed" then
  return answer("Progressing", found)
end
-- Completed says nothing of how it went: each container does.
if done < #(at("spec", "containers") or {}) then
  return answer("Degraded", at("status", "message") or found)
end
return answer("Healthy", found)
