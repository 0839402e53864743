-- Healthy means that the last round passed. The rounds of a schedule don't make a Benchmark progress: its health
-- stays that of the last completed round until the next one ends.
local health = {status = "Progressing", message = "Waiting for the operator"}
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation or obj.status.conditions == nil then
  return health
end
local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end
local succeeded, reconciling, stalled = conditions.Succeeded, conditions.Reconciling, conditions.Stalled
if succeeded ~= nil and succeeded.reason == "Suspended" then
  health.status = "Suspended"
  health.message = succeeded.message
elseif reconciling ~= nil and reconciling.status == "True" then
  health.message = succeeded ~= nil and succeeded.reason .. ": " .. succeeded.message or reconciling.message
elseif stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
  health.message = (obj.status.verdict or "Error") .. ": " .. stalled.reason .. ": " .. stalled.message
elseif obj.status.verdict == "Passed" or obj.status.verdict == "Measured" then
  health.status = "Healthy"
  health.message = succeeded ~= nil and succeeded.message or "The last round passed"
elseif succeeded ~= nil then
  health.message = succeeded.reason .. ": " .. succeeded.message
end
return health
