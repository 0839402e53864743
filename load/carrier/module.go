package carrier

import (
	"errors"

	"go.k6.io/k6/v2/js/common"
	"go.k6.io/k6/v2/js/modules"
)

// moduleName is the module as scripts import it.
const moduleName = "k6/x/assay"

func init() { modules.Register(moduleName, module{}) }

// module is Assay's module for k6.
type module struct{}

// instance is the module as one virtual user has it.
type instance struct{ vu modules.VU }

// NewModuleInstance is called by k6 for each virtual user.
func (module) NewModuleInstance(vu modules.VU) modules.Instance { return instance{vu} }

// Exports are the functions that scripts can import.
func (i instance) Exports() modules.Exports {
	return modules.Exports{Named: map[string]any{"carry": i.carry}}
}

func (i instance) carry() {
	if load == nil {
		common.Throw(i.vu.Runtime(), errors.New(moduleName+" carries load only in `assay-load client`"))
	}
	if err := load.Carry(i.vu.Context()); err != nil {
		common.Throw(i.vu.Runtime(), err)
	}
}
