local finished = false
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type == "Finished" and condition.status == "True" then
      finished = true
    end
  end
end
local suspended = obj.spec.suspend == true
return {
  -- A run can be suspended until it has finished, and only a finished run is of use as a template of another.
  ["suspend"] = {disabled = finished or suspended},
  ["resume"] = {disabled = finished or not suspended},
  ["rerun"] = {disabled = not finished},
}
