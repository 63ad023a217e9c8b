//go:build !unix

package bounds

import "time"

var begun = time.Now()

// busy is how long the process runs, where that of processors is not known.
func busy() time.Duration { return time.Since(begun) }
