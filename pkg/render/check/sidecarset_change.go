package check

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// change compares with the set as it exists, when the context holds it: some
// things may not be changed.
func (k *setCheck) change() {
	old := k.Old
	if old == nil {
		return
	}
	for i, n := range tree.Items(tree.Get(k.spec, "containers")) {
		path := fmt.Sprintf("spec.containers[%d]", i)
		name := tree.StrAt(n, "name")
		before, _ := tree.Find(tree.Get(old.Node(), "spec", "containers"), "name", name)
		switch {
		case before == nil:
			k.frozen(path+".name", "delete and create the set, or put the container into another set",
				"container %s cannot be added: the existing set lacks it", name)
		case upgradeType(before) != upgradeType(n):
			k.frozen(path+".upgradeStrategy.upgradeType", "", "cannot be changed from %s to %s", upgradeType(before), upgradeType(n))
		}
	}
	if was, is := baseOf(old.Node()), baseOf(k.hub); was != "" && was != is {
		k.frozen("metadata.annotations["+kruise.SidecarSetBaseAnnotation+"]", "", "the base of a canary cannot be changed from %q to %q", was, is)
	}
}

func upgradeType(container *tree.Node) string {
	if t := tree.StrAt(container, "upgradeStrategy", "upgradeType"); t != "" {
		return t
	}
	return "ColdUpgrade"
}
