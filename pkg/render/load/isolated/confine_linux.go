package isolated

import (
	"fmt"
	"os/exec"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// confine has the kernel refuse, as far as it can, all but the reading of files below a
// folder: other files, writing, programs, connections, and signals to other processes.
func confine(folder string) error {
	err := landlock.V11.BestEffort().Restrict(landlock.PathAccess(ll.AccessFSReadFile|ll.AccessFSReadDir, folder))
	if err != nil {
		return fmt.Errorf("the kernel does not confine the process: %w", err)
	}
	return nil
}

// limitResources has the kernel refuse memory and the writing of files.
func limitResources(l Limits) {
	for what, most := range map[int]uint64{unix.RLIMIT_AS: uint64(l.MemoryBytes) + runtimeReserve, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0} {
		var now unix.Rlimit
		if unix.Getrlimit(what, &now) == nil && now.Cur > most {
			// It is a second bound: the process watches its memory by itself.
			_ = unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most})
		}
	}
}

// diesWithParent has the kernel end the process with its parent.
func diesWithParent(c *exec.Cmd) {
	c.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
}
