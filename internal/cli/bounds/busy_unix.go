//go:build unix

package bounds

import (
	"syscall"
	"time"
)

// busy is how much time of processors the process has used.
func busy() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
