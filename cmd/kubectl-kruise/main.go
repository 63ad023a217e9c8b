// Command kubectl-kruise is a kubectl plugin and a manifest renderer for
// OpenKruise. This file knows streams, the heap and the exit code, nothing else.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

func main() {
	factory.StartHeap()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once, whatever it is busy with.
	context.AfterFunc(ctx, stop)
	// stop is not called at the end: it would end the context as a signal does, and a process
	// that takes long to exit would then end as interrupted.
	os.Exit(cli.Main(ctx, os.Args, factory.System()))
}
