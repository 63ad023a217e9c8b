package approval

import "io/fs"

// open reports whether other users may write the file: the profile folder of a user on
// Windows is that user's own, and file modes say nothing of it.
func open(fs.FileInfo) bool { return false }
