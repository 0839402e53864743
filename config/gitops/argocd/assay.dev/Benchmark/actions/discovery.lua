local suspended = obj.spec.suspend == true
return {
  ["suspend"] = {disabled = suspended},
  ["resume"] = {disabled = not suspended},
  -- A suspended Benchmark begins no round.
  ["rerun"] = {disabled = suspended},
}
