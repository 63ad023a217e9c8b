package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// baseOf returns the set whose canary n is, "" when it is none.
func baseOf(n *tree.Node) string {
	if tree.StrAt(n, "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) != "true" {
		return ""
	}
	return tree.StrAt(n, "metadata", "annotations", kruise.SidecarSetBaseAnnotation)
}

// canary checks a canary set. Its base must be among what is known: the
// renderer could not tell otherwise what it stands in for.
func (k *setCheck) canary() {
	if tree.StrAt(k.hub, "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) != "true" {
		return
	}
	const path = "metadata.annotations[" + kruise.SidecarSetBaseAnnotation + "]"
	name := baseOf(k.hub)
	if k.updateType() != "NotUpdate" {
		k.fault("spec.updateStrategy.type", "", "a canary SidecarSet needs type NotUpdate")
	}
	if name == "" {
		k.fault("metadata.annotations["+kruise.SidecarSetCanaryAnnotation+"]", "name the base set in "+kruise.SidecarSetBaseAnnotation, "a canary SidecarSet needs a base")
		return
	}
	base := k.c.Facts.Find(resource.ID{Group: kruise.Group, Kind: kruise.KindSidecarSet, Name: name})
	switch {
	case name == k.r.Name():
		k.fault(path, "", "a SidecarSet cannot be its own canary")
	case base == nil:
		k.fault(path, "add it to the input, or by --with or --live", "base SidecarSet %s is not known", name)
	case tree.StrAt(base.Node(), "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) == "true":
		k.fault(path, "", "base SidecarSet %s is itself a canary", name)
	}
}
