package host

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// UnmountBelow unmounts everything below the directories, deepest first.
func UnmountBelow(dirs ...string) error {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	points := MountPointsBelow(string(content), dirs)
	var failed error
	for _, point := range points {
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			failed = errors.Join(failed, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return failed
}

// MountPointsBelow returns the mount points below the directories, the latest mount first.
func MountPointsBelow(mountinfo string, dirs []string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	var points []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := unescape.Replace(fields[4])
		for _, dir := range dirs {
			if point == dir || strings.HasPrefix(point, dir+"/") {
				points = append(points, point)
			}
		}
	}
	slices.Reverse(points)
	return points
}
