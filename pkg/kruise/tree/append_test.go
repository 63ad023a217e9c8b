package tree_test

import (
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestAppend(t *testing.T) {
	list := tree.Seq(tree.String("a"))
	list.Style = yaml.FlowStyle
	item := tree.Map("key", "b")
	tree.Append(list, []*tree.Node{item})
	if len(list.Content) != 2 || list.Content[1] == item || !tree.Equal(list.Content[1], item) {
		t.Errorf("%v, want a copy at the end", tree.Value(list))
	}
	if list.Style&yaml.FlowStyle != 0 {
		t.Error("the list is still on one line")
	}
}
