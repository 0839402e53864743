-- A BenchmarkRun is one execution: running it again creates another one with the same spec. The new run isn't
-- in the repository and has no owner; it is deleted by its ttlSecondsAfterFinished, or by hand.
local os = require("os")

-- Lua can't tell an empty object from an empty list, and Argo CD would send "[]" for both. An empty server gets one
-- of its defaults. Nothing else is guessed.
local defaults = {tomcat = {"accessLog", "Disabled"}, generic = {"port", 8080}}

local function copy(value, key, path)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  local empty = true
  for name, item in pairs(value) do
    result[name] = copy(item, name, path .. "." .. name)
    empty = false
  end
  if empty then
    if defaults[key] == nil then
      error(path .. " is empty, which Argo CD can't copy: create the new run with kubectl")
    end
    result[defaults[key][1]] = defaults[key][2]
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
  spec = copy(obj.spec, "spec", "spec"),
}
-- A finished run may have been suspended before; its copy begins.
run.spec.suspend = nil
return {{operation = "create", resource = run}}
