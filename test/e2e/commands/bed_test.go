// Package commands has suites of the verbs that are not rollouts on a real API
// server: one file per verb, all in one cluster with Kruise's API and stand-ins for
// Kruise.
package commands

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/hermetic"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/standin"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// bed is a namespace of the cluster that all tests of this package share.
type bed struct {
	*cluster.Cluster
	namespace string
}

func newBed(t *testing.T) *bed {
	t.Helper()
	c, namespace := cluster.Shared(t, kruise.API(), standin.Controllers())
	return &bed{c, namespace}
}

// TestMain runs more tests at a time than there are cores: most of what they do is to
// wait for pods.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	hermetic.Main(m)
}

// patience bounds one call; it only ends what would hang.
const patience = 3 * time.Minute

// command is the product with the bed's cluster and namespace.
func (b *bed) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	// Before the arguments: what follows a -- is for another program.
	return exec.CommandContext(ctx, path, append([]string{"--kubeconfig", b.Kubeconfig(), "-n", b.namespace}, args...)...)
}

// call runs the product in a pipe.
func (b *bed) call(t *testing.T, args ...string) answer {
	t.Helper()
	return b.pipe(t, "", args...)
}

// pipe runs the product in a pipe, with a text on its input.
func (b *bed) pipe(t *testing.T, in string, args ...string) answer {
	t.Helper()
	cmd := b.command(t, args...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &said
	return answer{args, exitOf(t, cmd.Run()), out.String(), said.String()}
}

// exitOf is the exit code of a program that was run.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if ok {
		return exit.ExitCode()
	}
	return 0
}

// answer is what a call came to. On a terminal out has both streams.
type answer struct {
	args     []string
	code     int
	out, err string
}

// ends fails the test unless the call ended with a code and said these texts on
// either stream.
func (a answer) ends(t *testing.T, code int, texts ...string) answer {
	t.Helper()
	ok := a.code == code
	for _, text := range texts {
		ok = ok && strings.Contains(a.out+a.err, text)
	}
	if !ok {
		t.Errorf("%q: exit %d, want %d and %q\n%s%s", a.args, a.code, code, texts, a.out, a.err)
	}
	return a
}

// prints fails the test unless the call succeeded and wrote exactly these lines to
// its standard output.
func (a answer) prints(t *testing.T, lines ...string) answer {
	t.Helper()
	if want := strings.Join(append(lines, ""), "\n"); a.code != 0 || a.out != want {
		t.Errorf("%q: exit %d\n%s%s\nwant\n%s", a.args, a.code, a.out, a.err, want)
	}
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
