-- Whenever the value of the annotation changes, a round begins.
local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["assay.dev/run-round"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
