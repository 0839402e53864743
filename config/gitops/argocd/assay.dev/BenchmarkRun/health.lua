-- Healthy means that the run passed. A run that waits, measures or stores its result is progressing, also
-- if the operator hasn't seen it yet.
local health = {status = "Progressing", message = "Waiting for the operator"}
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation or obj.status.conditions == nil then
  return health
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local succeeded, finished, stalled = conditions.Succeeded, conditions.Finished, conditions.Stalled
if finished ~= nil and finished.status == "True" then
  if obj.status.verdict == "Passed" then
    health.status = "Healthy"
    health.message = finished.message
  else
    health.status = "Degraded"
    local cause = stalled or finished
    health.message = (obj.status.verdict or "Error") .. ": " .. cause.reason .. ": " .. cause.message
  end
elseif succeeded ~= nil then
  if succeeded.reason == "Suspended" then
    health.status = "Suspended"
  end
  health.message = succeeded.reason .. ": " .. succeeded.message
end
return health
