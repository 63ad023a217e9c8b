//go:build !windows

package approval

import "io/fs"

// open reports whether other users may write the file.
func open(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
