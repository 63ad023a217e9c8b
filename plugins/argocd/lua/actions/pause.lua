if obj.spec.schedule ~= nil or obj.kind == "BroadcastJob" or obj.kind == "EphemeralJob" then
  obj.spec.paused = true
else
  strategy().paused = true
end
return obj
