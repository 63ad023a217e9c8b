local wait = behind()
if wait then
  return wait
end
for _, type in ipairs({"GetResourceFailed", "CreateResourceFailed", "UpdateResourceFailed", "DeleteResourceFailed", "ConflictOccurred", "NamespaceNotExists"}) do
  local c = condition(type)
  if c and c.status == "True" then
    return answer("Degraded", type .. ": " .. table.concat(c.failedNamespaces or {}, ", "))
  end
end
if count("succeeded") < count("desired") then
  return answer("Progressing", of(count("succeeded"), count("desired"), "namespaces have it"))
end
return answer("Healthy", count("succeeded") .. " namespaces have it")
