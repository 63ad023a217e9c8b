package rollout

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/event"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestDryRun_OfPull: what would pull is shown, and nothing is created.
func TestDryRun_OfPull(t *testing.T) {
	t.Parallel()
	b := newBed(t, kinds["CloneSet"].workload)
	pull := []string{"pull", "registry.example.com/tool:1", b.typed()}
	p := fair(t, b)
	shown := b.shows(t, p, append(pull, "--dry-run=server", "-o", "json")...)
	if asked := onlyAsked(t, p); asked != 1 {
		t.Errorf("the server was asked %d requests", asked)
	}
	p = fair(t, b)
	b.calls(t, p, pull...)
	same(t, shown, workOf(p))
}

// shows makes a dry run, and returns the requests that it shows.
func (b *bed) shows(t *testing.T, p *proxy.Proxy, args ...string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(b.calls(t, p, args...)) {
		var r event.Request
		must(t, json.Unmarshal([]byte(line), &r))
		if r.Type != "request" {
			t.Errorf("among the requests: %s", line)
		}
		out = append(out, verbs[r.Method]+" "+r.Path)
	}
	return out
}

// onlyAsked fails where a dry run has written something, or was refused, and counts
// what the server was asked.
func onlyAsked(t *testing.T, p *proxy.Proxy) int {
	t.Helper()
	asked := 0
	p.Log.Each(func(r *proxy.Request) {
		switch {
		case !r.Writes() || r.Resource == "selfsubjectaccessreviews":
		case !slices.Equal(r.Query["dryRun"], []string{metav1.DryRunAll}):
			t.Errorf("a dry run writes: %s %s", r.Verb, r.Path)
		case !r.Effective():
			t.Errorf("%s %s: %d", r.Verb, r.Path, r.Code)
		default:
			asked++
		}
	})
	return asked
}

// same fails where other requests were sent than shown.
func same(t *testing.T, shown, sent []string) {
	t.Helper()
	slices.Sort(shown)
	slices.Sort(sent)
	if len(sent) == 0 || !slices.Equal(shown, sent) {
		t.Errorf("shown:\n%s\nsent:\n%s", strings.Join(shown, "\n"), strings.Join(sent, "\n"))
	}
}

var verbs = map[string]string{http.MethodPatch: "patch", http.MethodPost: "create", http.MethodDelete: "delete"}

// workOf are the writes of a rollout beside its record and lease.
func workOf(p *proxy.Proxy) []string {
	var out []string
	p.Log.Each(func(r *proxy.Request) {
		besides := []string{"leases", "events", "configmaps", "selfsubjectaccessreviews"}
		if r.Writes() && r.Effective() && !slices.Contains(besides, r.Resource) {
			out = append(out, r.Verb+" "+r.Path)
		}
	})
	return out
}

// calls makes a call that succeeds, through a proxy, and returns what it wrote.
func (b *bed) calls(t *testing.T, p *proxy.Proxy, args ...string) string {
	t.Helper()
	return b.begins(t, p, 0, args...)
}

// begins makes a call that ends with a code.
func (b *bed) begins(t *testing.T, p *proxy.Proxy, code int, args ...string) string {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig", kubeconfig(t, p.Config()), "-n", b.namespace)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%s: exit %d, want %d\n%s%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), code, &out, &said)
	}
	return out.String()
}
