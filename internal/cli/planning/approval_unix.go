//go:build !windows

package planning

import "io/fs"

// writableByOthers reports whether other users may write the file.
func writableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
