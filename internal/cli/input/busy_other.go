//go:build !unix

package input

import "time"

var startTime = time.Now()

// processorTime is how long the process runs, where that of processors is not known.
func processorTime() time.Duration { return time.Since(startTime) }
