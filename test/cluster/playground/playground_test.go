package playground_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/playground"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// example is where the test finds the example.
const example = "../../../examples/shop/overlays/prod"

// TestMain is the program in the background too, because the playground starts
// the program that it is part of.
func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == playground.HoldVerb {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := playground.Playground{Binary: os.Args[3], Example: os.Args[5]}.Hold(ctx)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	hermetic.Main(m)
}

func TestPlayground_CommandsOfItsWelcomeWork(t *testing.T) {
	binary, err := product.Binary()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	var said bytes.Buffer
	p := playground.Playground{Out: &said, Binary: binary, Example: example}
	if err := p.Stop(t.Context()); err != nil || said.String() != "no playground is running\n" {
		t.Fatalf("stopping none: %v %s", err, &said)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background()) })
	if err := p.Start(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	said.Reset()
	if err := p.Start(t.Context()); err != nil {
		t.Fatalf("a second start: %v", err)
	}
	try(t, said.String())
	said.Reset()
	if err := p.Stop(t.Context()); err != nil || said.String() != "the playground is gone\n" {
		t.Errorf("%v %s", err, &said)
	}
	if _, err := os.Stat(filepath.Join(cache, "kubectl-kruise", "playground", "kubeconfig")); !os.IsNotExist(err) {
		t.Errorf("kubeconfig: %v", err)
	}
}

// try runs every command that the welcome names, as a user would.
func try(t *testing.T, welcome string) {
	t.Helper()
	var exports, commands []string
	for line := range strings.Lines(welcome) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "export "):
			exports = append(exports, line)
		case strings.HasPrefix(line, "kubectl "):
			commands = append(commands, line)
		}
	}
	if len(commands) != 9 {
		t.Errorf("%d commands in\n%s", len(commands), welcome)
	}
	for _, command := range commands {
		out, err := exec.Command("sh", "-c", strings.Join(append(exports, command), "\n")).CombinedOutput()
		if err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
