-- A BenchmarkRun is one execution: running it again creates another one with the same spec. The new run isn't
-- in the repository and has no owner; it is deleted by its ttlSecondsAfterFinished, or by hand.
local os = require("os")

-- Lua can't tell an empty list from an empty object, and Argo CD would send "[]" for both. Empty tables are
-- omitted, except the configuration of the server, where an empty one has a meaning: see below.
local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  local empty = true
  for key, item in pairs(value) do
    local copied = copy(item)
    if copied ~= nil then
      result[key] = copied
      empty = false
    end
  end
  if empty then
    return nil
  end
  return result
end

local run = {
  apiVersion = obj.apiVersion,
  kind = obj.kind,
  metadata = {
    name = obj.metadata.name .. "-" .. os.date("!%Y%m%d%H%M%S"),
    namespace = obj.metadata.namespace,
  },
  spec = copy(obj.spec),
}
return {{operation = "create", resource = run}}
