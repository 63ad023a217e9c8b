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
  return answer("Progressing", string.format("%d of %d namespaces have it", count("succeeded"), count("desired")))
end
return answer("Healthy", string.format("%d namespaces have it", count("succeeded")))
