package rooted

import (
	"os"

	"golang.org/x/sys/unix"
)

// endless reports whether a regular file is one that the kernel makes up, such as those
// of /proc: what they hold is of the machine or the process, and some never end.
func endless(f *os.File) bool {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return false
	}
	switch uint32(s.Type) {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}
