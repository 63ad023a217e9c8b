package planning

import "io/fs"

// writableByOthers reports whether other users may write the file: the profile folder of a user on
// Windows is that user's own, and file modes say nothing of it.
func writableByOthers(fs.FileInfo) bool { return false }
