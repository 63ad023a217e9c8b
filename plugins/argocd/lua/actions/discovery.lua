-- Each action is offered where it would do something.
local found = {}
local paused
if obj.spec.schedule ~= nil or obj.kind == "BroadcastJob" or obj.kind == "EphemeralJob" then
  paused = obj.spec.paused == true
else
  paused = strategy().paused == true
end
for _, name in ipairs(ACTIONS) do
  found[name] = {disabled = (name == "pause" and paused) or (name == "resume" and not paused)}
end
return found
