package check

import (
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// change holds the rules for an update, where the context has the CloneSet as
// it is in the cluster: the selector stays, and v1alpha1 lets InPlaceOnly
// change images and metadata alone (semantics workloads 0.2, 2.5).
func (k *cloneSetCheck) change(c *stage.Context) {
	before := c.Facts.Existing(k.r)
	if before == nil {
		return
	}
	old, _, err := kruise.ToHub(before.Node())
	if err != nil {
		return // it is the cluster's object, not the user's to repair
	}
	now, _, err := kruise.ToHub(k.r.Node())
	if err != nil {
		return // reported when it was decoded
	}
	if !tree.Equal(tree.Get(old, "spec", "selector"), tree.Get(now, "spec", "selector")) {
		k.fault("spec.selector", "delete and create the CloneSet, or keep the selector", "the selector of a CloneSet that exists cannot change")
	}
	if r := k.spec.UpdateStrategy.RollingUpdate; k.alpha && r != nil && r.PodUpdatePolicy == kruise.InPlaceOnlyCloneSetPodUpdateStrategyType {
		k.inPlaceOnly(tree.Get(old, "spec", "template", "spec"), tree.Get(now, "spec", "template", "spec"))
	}
}

// inPlaceOnly compares pod specs with the images taken out. What the API
// server filled in on one side alone is no change of the user's.
func (k *cloneSetCheck) inPlaceOnly(old, now *tree.Node) {
	if covers(imageless(old), imageless(now)) {
		return
	}
	k.fault("spec.template.spec", "use InPlaceIfPossible, or change only images and metadata", "InPlaceOnly allows changes of images alone")
}

// imageless is the pod spec with the image of every container taken out.
func imageless(spec *tree.Node) any {
	v, _ := tree.Value(spec).(map[string]any)
	containers, _ := v["containers"].([]any)
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok {
			delete(c, "image")
		}
	}
	return v
}

// covers reports whether everything that now says is also in old: keys that
// only old has may be defaults.
func covers(old, now any) bool {
	switch now := now.(type) {
	case map[string]any:
		o, ok := old.(map[string]any)
		for key, v := range now {
			if !ok || !covers(o[key], v) {
				return false
			}
		}
		return true
	case []any:
		o, ok := old.([]any)
		if !ok || len(o) != len(now) {
			return false
		}
		for i := range now {
			if !covers(o[i], now[i]) {
				return false
			}
		}
		return true
	}
	return old == now
}
