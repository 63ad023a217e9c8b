package inject

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// containerAt is the index of the pod's containers by name.
func (in *injection) containerAt() map[string]int {
	if in.index == nil {
		in.index = named(in.containers)
	}
	return in.index
}

// write sets spec.FIELD, unless it is the same list already. New init
// containers stand before the containers.
func (in *injection) write(field string, items []*tree.Node) {
	old := tree.Get(in.spec, field)
	if slices.Equal(tree.Items(old), items) {
		return
	}
	if old == nil {
		old = tree.Seq()
	}
	n := block(tree.Shallow(old))
	n.Content = items
	if field == "initContainers" && !tree.Has(in.spec, field) {
		in.spec.Content = slices.Insert(in.spec.Content, in.keyOf("containers"), tree.String(field), n)
		return
	}
	tree.Set(in.spec, field, n)
}

// keyOf is the index of key among the contents of spec; its end when missing.
func (in *injection) keyOf(key string) int {
	for i := 0; i+1 < len(in.spec.Content); i += 2 {
		if in.spec.Content[i].Value == key {
			return i
		}
	}
	return len(in.spec.Content)
}

// addVolumes appends the queued volumes; the pod's volume of a name wins
// (docs/kruise/sidecarset.md#volumes).
func (in *injection) addVolumes() {
	own := tree.Items(tree.Get(in.spec, "volumes"))
	in.write("volumes", withoutRepeats(own, in.queue))
}

// addPullSecrets appends the sets' secrets behind the pod's, each name once
// (docs/kruise/sidecarset.md#pull-secrets).
func (in *injection) addPullSecrets() {
	own := tree.Items(tree.Get(in.spec, "imagePullSecrets"))
	var added []*tree.Node
	for _, set := range in.sets {
		added = append(added, set.secrets...)
	}
	if len(own) == 0 && len(added) > 0 {
		own = in.opt.PullSecrets
	}
	in.write("imagePullSecrets", withoutRepeats(withoutRepeats(nil, own), added))
}
