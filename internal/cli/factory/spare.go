package factory

import "github.com/kubectl-kruise/kubectl-kruise/internal/cli/heap"

// spared is how far the heap may grow over what is in use, in percent, before garbage is
// collected, for commands that read a whole cluster: Go's default is 100.
const spared = 50

// Spare reduces the memory of commands that read a whole cluster: most of what they allocate
// is in use for a moment only.
func (f *Factory) Spare() {
	if f.Streams.Getenv != nil {
		heap.SetGrowth(spared)
	}
}
