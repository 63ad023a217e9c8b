//go:build !windows

package planning

import (
	"io/fs"
	"os"
	"syscall"
)

// writableByOthers reports whether other users may write the file, root aside: one that another user owns
// is read where root runs with the home of that user.
func writableByOthers(info fs.FileInfo) bool {
	if info.Mode().Perm()&0o022 != 0 {
		return true
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid != 0 && int(s.Uid) != os.Geteuid()
}
