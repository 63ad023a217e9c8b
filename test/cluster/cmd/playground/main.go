// Command playground keeps a cluster to try things out on:
//
//	go run -C test ./cluster/cmd/playground start [-binary FILE] [-example FOLDER]
//	go run -C test ./cluster/cmd/playground stop
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/playground"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	verb := ""
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	p := playground.Playground{Out: os.Stdout}
	flags.StringVar(&p.Binary, "binary", "../bin/kubectl-kruise", "the kubectl-kruise that renders the example")
	flags.StringVar(&p.Example, "example", "../examples/shop/overlays/prod", "the kustomization to render and apply")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch verb {
	case "start":
		return p.Start(ctx)
	case playground.HoldVerb:
		return p.Hold(ctx)
	case "stop":
		return p.Stop(ctx)
	}
	return fmt.Errorf("want start or stop, got %q", verb)
}
