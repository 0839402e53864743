package report

import (
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// aroundPod returns what happened around the target or a client. name is that of its CPUs.
func aroundPod(name string, u *result.NodeUsage, governor string) doc.Facts {
	var shares []string
	for _, share := range []struct {
		used int64
		part string
	}{
		{u.Idle, "idle"}, {u.OtherCPU, "used by others and interrupts"}, {u.Steal, "stolen by the hypervisor"}, {u.IOWait, "waiting for disks"},
	} {
		if percent := u.CPUPercent(share.used); percent != result.Unknown {
			shares = append(shares, decimals(percent, 1)+"% "+share.part)
		}
	}
	var f facts
	if len(shares) > 0 {
		f.add(name, "%s", strings.Join(shares, ", "))
	}
	if hard, soft := u.CPUPercent(u.HardIRQ), u.CPUPercent(u.SoftIRQ); hard != result.Unknown && soft != result.Unknown {
		f.add("Interrupts", "%s%% hardware, %s%% software", decimals(hard, 1), decimals(soft, 1))
	}
	if governor != "" {
		f.add("Frequency governor", "%s", governor)
	}
	addMetrics(&f, result.NodeMetrics, u, true, "")
	if missing := u.Missing(); len(missing) > 0 {
		f.add("Not available", "%s", strings.Join(missing, ", "))
	}
	return f.block()
}
