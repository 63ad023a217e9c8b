//go:build unix

package emit

import (
	"errors"
	"os"
	"syscall"
)

// lockDirectory has the directory until f is closed: another that asks meanwhile is refused. The
// system lets go of it when the process ends, however it ends.
func lockDirectory(f *os.File) (release func(), err error) {
	release = func() {} // closing does it
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return release, nil // a file system without locks, such as some network ones, is written to as it is
}
