// Command build makes the servers of the test cluster before tests need them:
//
//	go run -C test ./cluster/cmd/build [-server v1.36] [-node=false]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/build"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/realnode"
)

func main() {
	line := flag.String("server", build.Line(), "server line, v1.37 or v1.36")
	node := flag.Bool("node", realnode.Missing() == "", "also build kubelet and containerd for real nodes; by default where the machine can have one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *line, *node)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, line string, node bool) error {
	sets := []build.Set{build.Control}
	if node {
		sets = append(sets, build.Node)
	}
	for _, set := range sets {
		dir, err := build.Ensure(ctx, set, line, os.Stderr)
		if err != nil {
			return err
		}
		fmt.Println(dir)
	}
	return nil
}
