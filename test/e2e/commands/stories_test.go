package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kruise/kubectl-kruise/test/product"
)

// TestStories_OfTheOlderPlugin runs testdata/script: what users of the older plugin do most, in their
// words, one story per task. Each has a namespace with the CloneSet web, of three pods,
// and a cluster that serves Rollouts of Kruise Rollout without their controller.
func TestStories_OfTheOlderPlugin(t *testing.T) {
	stories, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(stories) < 10 {
		t.Fatalf("%d stories: %v", len(stories), err)
	}
	for _, story := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(story), ".txtar"), func(t *testing.T) {
			t.Parallel()
			b := withRollouts(t)
			b.settle(t, cloneSet("web", ""), webCloneSet)
			testscript.Run(t, testscript.Params{
				Files: []string{story},
				Setup: b.enter,
				Cmds:  map[string]func(*testscript.TestScript, bool, []string){"remember": remember},
			})
		})
	}
}

// enter has a story call the product in the bed's namespace.
func (b *bed) enter(env *testscript.Env) error {
	binary, err := product.Binary()
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(env.WorkDir, ".kubeconfig")
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("NAMESPACE", b.namespace)
	env.Setenv("PATH", filepath.Dir(binary)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	return b.kubeconfig(kubeconfig)
}

// kubeconfig writes the way to the cluster, with the namespace as the one that is
// meant when none is named.
func (b *bed) kubeconfig(path string) error {
	config, err := clientcmd.LoadFromFile(b.Kubeconfig())
	if err != nil {
		return err
	}
	config.Contexts[config.CurrentContext].Namespace = b.namespace
	return clientcmd.WriteToFile(*config, path)
}

// remember NAME...: the words of the last standard output, as variables.
func remember(ts *testscript.TestScript, _ bool, names []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	if len(words) < len(names) {
		ts.Fatalf("%d words for %q", len(words), names)
	}
	for i, name := range names {
		ts.Setenv(name, words[i])
	}
}
