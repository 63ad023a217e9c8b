package factory

import "runtime/debug"

// spared is how far the heap may grow over what is in use, in percent, before the
// collector comes: by itself it comes at 100.
const spared = 50

// Spare has memory spared, for commands that read a whole cluster: most of what they
// take is of use for a moment. A GOGC of the user stands.
func (f *Factory) Spare() {
	if f.Streams.Getenv != nil && f.Streams.Getenv("GOGC") == "" {
		debug.SetGCPercent(spared)
	}
}
