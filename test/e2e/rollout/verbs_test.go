package rollout

import (
	"bytes"
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	testcluster "github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// call is one call of the product and how it has to end.
type call struct {
	code int
	args string
	// once is that one kind of each driver makes it: what it asks the server for does not depend on the kind, or is
	// what other calls ask for. The stories of internal/cli/rollout have the verbs of each kind.
	once bool
	// input is what comes on standard input.
	input string
}

// ofDrivers are the kinds that make all calls.
var ofDrivers = []string{"CloneSet", "StatefulSet", "ReplicaSet"}

// The verbs that a rollout meets between its beginning and its end; NAME is
// the workload, STEPS for the steps that its kind can have.
var (
	whole = []call{
		{0, "plan NAME --image main=" + web2 + " DRIVER --out FILE", false, ""},
		{0, "rollout apply FILE --yes", false, ""},
		{0, "rollout history NAME", false, ""},
		{0, "rollout undo NAME REVISION DRIVER --yes", false, ""},
		{0, "rollout restart NAME DRIVER --yes", false, ""},
		{0, "restart NAME --yes", true, ""},
		{0, "rollout restart NAME --in-place --yes", true, ""},
		{0, "rollout restart NAME --in-place --dry-run=server", true, ""},
		{0, "restart NAME --dry-run=server", true, ""},
		{2, "rollout restart NAME --in-place --yes -o yaml", true, ""},
		{0, "why NAME", false, ""},
		{0, "rollout status NAME", true, ""},
		{0, "rollout list --all", true, ""},
	}
	inSteps = []call{
		{5, "rollout run NAME --image main=" + web2 + " STEPS", false, ""},
		{0, "rollout status NAME --watch=false", true, ""},
		{0, "rollout pause NAME", false, ""},
		{5, "rollout resume NAME --exit-on-pause", false, ""},
		{0, "rollout promote NAME --dry-run=server", true, ""},
		{0, "rollout abort NAME --rollback --dry-run=server", true, ""},
		{1, "rollout retry NAME --dry-run", true, ""},
		{0, "rollout promote NAME --to 100%", true, ""},
		{5, "rollout run NAME --image main=" + web1 + " STEPS", true, ""},
		{0, "rollout promote NAME --full", true, ""},
		{5, "rollout run NAME --image main=" + web2 + " STEPS", true, ""},
		{0, "rollout abort NAME --rollback --yes", false, ""},
		{3, "rollout run NAME --image main=" + web2 + " STEPS --verify-command false", true, ""},
		{1, "rollout retry NAME", true, ""}, // its plan runs a command
		{3, "rollout retry NAME --allow-commands", true, ""},
		{0, "rollout abort NAME --yes", true, ""},
		{0, "rollout undo NAME DRIVER --yes", true, ""},
	}
)

// TestVerbs_WorkWithThePrintedRoles goes through all verbs for each driver, and what writes each kind of workload, with
// the roles that are printed and no more: each ends as it should, and the server turns nothing down.
func TestVerbs_WorkWithThePrintedRoles(t *testing.T) {
	t.Parallel()
	path, err := product.Binary()
	must(t, err)
	all := make(chan struct{}, atOnce)
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all <- struct{}{}
			defer func() { <-all }()
			b := newBed(t, k.workload)
			p := b.restricted(t)
			calls := whole
			if k.steps != nil {
				calls = slices.Concat(whole, inSteps)
			}
			if name == "CloneSet" {
				calls = append(calls, call{0, "apply -f - --force-conflicts --yes", true, b.next}, call{0, "pull registry.example.com/tool:9 NAME", true, ""})
			}
			revision := "--to-revision 1"
			if name == "ReplicaSet" { // it has no revisions
				revision = ""
			}
			words := strings.NewReplacer(
				"NAME", b.typed(), "DRIVER", "--driver "+string(k.driver), "STEPS", "--driver "+string(k.driver)+" --steps "+strings.Join(k.steps, ",")+" --pause-after 1 --pull-images never --exit-on-pause --yes",
				"REVISION", revision, "FILE", filepath.Join(t.TempDir(), "plan.yaml"),
			)
			config := kubeconfig(t, p.Config())
			for _, c := range calls {
				if c.once && !slices.Contains(ofDrivers, name) {
					continue
				}
				c.args = words.Replace(c.args)
				c.ends(t, path, "--kubeconfig", config, "-n", b.namespace)
			}
			nothingForbidden(t, p)
		})
	}
}

// ends makes the call, and fails unless it ends as it has to. One that hangs has to say
// where: it is asked for its stacks. The limit tells a hang from slowness, and is no measure
// of speed, which a busy machine would fail.
func (c call) ends(t *testing.T, path string, flags ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testcluster.Patience/2)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(strings.Fields(c.args), flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.input), &out, &out
	start := time.Now()
	if _ = cmd.Run(); ctx.Err() != nil || cmd.ProcessState.ExitCode() != c.code {
		t.Fatalf("%s: exit %d, want %d\n%s", c.args, cmd.ProcessState.ExitCode(), c.code, &out)
	}
	t.Logf("%s %s", time.Since(start), c.args)
}

// restricted is the way of an account that has the roles which are printed, as soon as
// the server knows of them.
func (b *bed) restricted(t *testing.T) *proxy.Proxy {
	t.Helper()
	cfg := b.account(t, func(s string) string { return s })
	b.opened(t, cfg).Close()
	p, err := proxy.New(cfg, &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	t.Cleanup(p.Kill)
	return p
}

func nothingForbidden(t *testing.T, p *proxy.Proxy) {
	t.Helper()
	p.Log.Each(func(r *proxy.Request) {
		if r.Code == http.StatusForbidden {
			t.Errorf("forbidden: %s %s %s/%s %s", r.Verb, r.APIGroup, r.Resource, r.Subresource, r.Name)
		}
	})
}

// typed names the workload as people do.
func (b *bed) typed() string {
	name := strings.ToLower(b.object.Kind)
	if b.object.Group != "" {
		name += "." + b.object.Group
	}
	return name + "/web"
}
