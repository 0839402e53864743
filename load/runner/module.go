package runner

import (
	"errors"

	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
)

// moduleName is the name by which scripts import the module.
const moduleName = "k6/x/assay"

func init() { modules.Register(moduleName, module{}) }

// module implements modules.Module.
type module struct{}

// instance is the module of one virtual user.
type instance struct{ vu modules.VU }

// NewModuleInstance implements modules.Module. k6 calls it for each virtual user.
func (module) NewModuleInstance(vu modules.VU) modules.Instance { return instance{vu} }

// Exports implements modules.Instance. It returns the functions that scripts can import.
func (i instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"run": i.run}}
}

// run runs the virtual user's shares of the load. An error becomes a JavaScript exception.
func (i instance) run() {
	if load == nil {
		common.Throw(i.vu.Runtime(), errors.New(moduleName+" works only in `assay-load client`, `run` and `ab`"))
	}
	if err := load.RunShares(i.vu.Context()); err != nil {
		common.Throw(i.vu.Runtime(), err)
	}
}
