package factory

import (
	"os"
	"path/filepath"
	"testing"
)

const kubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://localhost:1"}}]
contexts: [{name: c, context: {cluster: c, namespace: home}}]
current-context: c
`

// TestNamespace_CanBeSetAfterReadingTheKubeconfig: a namespace that is set later counts, though the kubeconfig was read
// before: workloads of -f have their own, one after the other.
func TestNamespace_CanBeSetAfterReadingTheKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	f := New(Streams{})
	f.Flags.KubeConfig = &path
	unset := f.Flags.Namespace
	for _, c := range []struct{ set, want string }{{"", "home"}, {"shop", "shop"}, {"", "home"}, {"away", "away"}} {
		if f.Flags.Namespace = &c.set; c.set == "" {
			f.Flags.Namespace = unset
		}
		if got, err := f.NamespaceOrDefault(); got != c.want || err != nil {
			t.Errorf("-n %q: %q, %v; want %q", c.set, got, err, c.want)
		}
	}
}
