package ui_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/ui"
)

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := ui.NewDemo(factory.New(factory.Streams{In: strings.NewReader(""), Out: &out, Err: &out}))
	c.SetArgs(append([]string{}, args...)) // with nil it would take those of the test binary
	c.SetOut(&out)
	c.SetErr(&out)
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// TestDemo_HeadlessIsReproducible tells the three stories, and tells them again the same way.
func TestDemo_HeadlessIsReproducible(t *testing.T) {
	out, err := run(t, "--headless", "--for", "1m")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"shop/cloneset/storefront\tpaused\t1/12 updated", "shop/cloneset/checkout\tblocked", "sidecarset/mesh\tprogressing", "HEALTH", "DRIVER",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if again, _ := run(t, "--headless", "--for", "1m"); again != out {
		t.Error("the same seed tells another story")
	}
}

// TestDemo_WithoutATerminal: in a pipe it says what to do instead.
func TestDemo_WithoutATerminal(t *testing.T) {
	if _, err := run(t); err == nil || !strings.Contains(err.Error(), "not a terminal") {
		t.Error(err)
	}
	if _, err := run(t, "--speed", "0"); err == nil {
		t.Error("time would stand still")
	}
}
