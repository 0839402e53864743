package lane_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/lane"
)

// BenchmarkPosition is the time to find the position of one run among a thousand that wait in a lane, of one and of twenty namespaces.
func BenchmarkPosition(b *testing.B) {
	for _, namespaces := range []int{1, 20} {
		b.Run(fmt.Sprintf("namespaces=%d", namespaces), func(b *testing.B) {
			waiting := &lane.Lane{LastAdmission: map[string]time.Time{}}
			for i := range 1000 {
				waiting.Runs = append(waiting.Runs, &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("run-%d", i), Namespace: fmt.Sprintf("namespace-%d", i%namespaces), UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i*7919%1000)),
					CreationTimestamp: metav1.Unix(int64(i*7919%1000), 0),
				}})
			}
			for b.Loop() {
				lane.PositionOf(waiting.Runs[500], waiting, time.Unix(2000, 0))
			}
		})
	}
}
