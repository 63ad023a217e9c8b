local wait = behind()
if wait then
  return wait
end
return answer("Healthy", "in force")
