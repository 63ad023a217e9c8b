//go:build !unix

package tui

import "time"

var began = time.Now()

// spent is the time that has gone by, where the system does not report how long this process has
// computed.
func spent() time.Duration { return time.Since(began) }
