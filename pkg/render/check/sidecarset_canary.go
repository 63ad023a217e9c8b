package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The annotations that make a SidecarSet the canary of another.
const (
	canaryAnnotation = "apps.kruise.io/sidecarset-canary"
	baseAnnotation   = "apps.kruise.io/sidecarset-base"
)

// baseOf returns the set whose canary n is, "" when it is none.
func baseOf(n *tree.Node) string {
	if tree.StrAt(n, "metadata", "annotations", canaryAnnotation) != "true" {
		return ""
	}
	return tree.StrAt(n, "metadata", "annotations", baseAnnotation)
}

// canary checks a canary set. Its base must be among what is known: the
// renderer could not tell otherwise what it stands in for.
func (k *setCheck) canary() {
	if tree.StrAt(k.hub, "metadata", "annotations", canaryAnnotation) != "true" {
		return
	}
	const path = "metadata.annotations[" + baseAnnotation + "]"
	name := baseOf(k.hub)
	if k.updateType() != "NotUpdate" {
		k.fault("spec.updateStrategy.type", "", "a canary SidecarSet needs type NotUpdate")
	}
	if name == "" {
		k.fault("metadata.annotations["+canaryAnnotation+"]", "name the base set in "+baseAnnotation, "a canary SidecarSet needs a base")
		return
	}
	base := k.c.Facts.Find(resource.ID{Group: kruise.Group, Kind: "SidecarSet", Name: name})
	switch {
	case name == k.r.Name():
		k.fault(path, "", "a SidecarSet cannot be its own canary")
	case base == nil:
		k.fault(path, "add it to the input, or by --with or --live", "base SidecarSet %s is not known", name)
	case tree.StrAt(base.Node(), "metadata", "annotations", canaryAnnotation) == "true":
		k.fault(path, "", "base SidecarSet %s is itself a canary", name)
	}
}
