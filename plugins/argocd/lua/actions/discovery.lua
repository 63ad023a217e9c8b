-- Each action is offered where it would do something.
local found = {}
local paused
if obj.spec.schedule ~= nil or obj.kind == "BroadcastJob" or obj.kind == "EphemeralJob" then
  paused = obj.spec.paused == true
else
  paused = strategy().paused == true
end
-- With OnDelete nothing is updated that could be paused or promoted, and the webhook takes no rollingUpdate.
local still = obj.spec.updateStrategy ~= nil and obj.spec.updateStrategy.type == "OnDelete"
for _, name in ipairs(ACTIONS) do
  found[name] = {disabled = (name == "pause" and (paused or still)) or (name == "resume" and not paused) or (name == "promote" and still)}
end
return found
