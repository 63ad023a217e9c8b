package kruise_test

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func parse(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		tb.Fatal(err)
	}
	return tree.Root(&n)
}
