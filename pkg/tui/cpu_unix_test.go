//go:build unix

package tui

import (
	"syscall"
	"time"
)

// spent is how long this process has computed: on a machine that does other things
// too, time alone says nothing.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
