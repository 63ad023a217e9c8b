package commands

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestCompletion_AsksAtMostTwice: the shell offers what there is, for two requests at most.
func TestCompletion_AsksAtMostTwice(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.settle(t, cloneSet("web", "")+workload("apps/v1", "Deployment", "web", ""), webCloneSet, webDeployment)
	revision := at(b.get(t, kruiseV1, "CloneSet", "web"), "status.updateRevision")
	pod := b.podsOf(t, "web")[0]
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	defer p.Kill()
	offered := offers(t, b, p)
	offered("get", "clones")
	for _, c := range []struct{ args, want string }{
		{"get cloneset ", "web"},
		{"describe cloneset/", "cloneset/web"},
		{"rollout undo cl", "cloneset/"},
		{"rollout undo clone/w", "clone/web"},
		{"rollout pause cloneset ", "web"},
		{"rollout history deployment/", "deployment/web"},
		{"rollout undo cloneset/web --to-revision ", "1\t" + revision},
		{"rollout history deployment/web --revision ", "1\t"},
		{"plan cloneset/", "cloneset/web"},
		{"why clone/", "clone/web"},
		{"pull web:2 cloneset/", "cloneset/web"},
		{"pull web:2 --node-selector kubernetes.io/host", "kubernetes.io/hostname="},
		{"create imagepulljob x --image web:2 --node ", "node-0"},
		{"create crr x --pod web", pod},
		{"create crr x --pod " + pod + " --containers ", "main"},
		{"create pub x --target cloneset/", "cloneset/web"},
		{"restart cloneset/web -c ", "main"},
		{"restart " + pod + " -c ", "main"},
		{"exec " + pod + " -c ", "main"},
		{"logs " + pod + " -S ", "main"},
		{"debug " + pod + " --target ", "main"},
		{"scaledown cloneset/web --pods " + pod[:3], pod},
		{"set image cloneset/web ", "main="},
		{"wait cloneset/", "cloneset/web"},
		{"migrate deployment/", "deployment/web"},
		{"migrate ", "Deployment"},
		{"get pods -n " + b.namespace, b.namespace},
		{"get pods --context ", ":4"},
		{"rollout undo cloneset/web --dry-run=", "server"},
		{"restart cloneset/missing -c ", ":4"},
	} {
		if out := offered(strings.Split(c.args, " ")...); !slices.ContainsFunc(out, func(line string) bool { return strings.HasPrefix(line, c.want) }) {
			t.Errorf("%q: %q, want %q", c.args, out, c.want)
		}
	}
}

// offers asks as a shell does, through a proxy, and returns the lines.
func offers(t *testing.T, b *bed, p *proxy.Proxy) func(args ...string) []string {
	t.Helper()
	path, err := product.Binary()
	must(t, err)
	cache := t.TempDir()
	seen := 0
	return func(args ...string) []string {
		cmd := exec.CommandContext(t.Context(), path, append([]string{"__complete", "--server", p.Config().Host, "--cache-dir", cache, "-n", b.namespace}, args...)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, &said)
		}
		asked := 0
		p.Log.Each(func(r *proxy.Request) {
			if r.IsResourceRequest {
				asked++
			}
		})
		if asked > seen+2 {
			t.Errorf("%q: %d requests", args, asked-seen)
		}
		seen = asked
		return strings.Split(string(out), "\n")
	}
}
