if obj.spec.schedule ~= nil or obj.kind == "BroadcastJob" or obj.kind == "EphemeralJob" then
  obj.spec.paused = false
else
  strategy().paused = false
end
return obj
