package run

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
)

func TestExclusivity(t *testing.T) {
	tests := []struct {
		own, shared string
		limit       int64
		want        v1alpha1.CPUExclusivity
	}{
		{"1", "0", 1000, v1alpha1.CPUsExclusive},
		{"2-3", "0-1", 2000, v1alpha1.CPUsExclusive},
		{"0-1", "0-1", 1000, v1alpha1.CPUsShared},
		{"1", "1", 1000, v1alpha1.CPUsShared},
		{"1", "0", 500, v1alpha1.CPUsShared},
		{"1", "", 1000, v1alpha1.CPUsUnknown},
		{"", "0", 1000, v1alpha1.CPUsUnknown},
		{"x", "0", 1000, v1alpha1.CPUsUnknown},
		{"0-9999999999", "0", 1000, v1alpha1.CPUsUnknown},
		{"1", "0-9999999999", 1000, v1alpha1.CPUsUnknown},
	}
	for _, test := range tests {
		if got := observed.Exclusivity(test.own, test.shared, v1alpha1.Resources{CPU: resource.NewMilliQuantity(test.limit, resource.DecimalSI)}); got != test.want {
			t.Errorf("CPUs %q beside %q with %d m: %s, want %s", test.own, test.shared, test.limit, got, test.want)
		}
	}
}
