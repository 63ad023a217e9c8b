package startup

import (
	"cmp"
	"math"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// launch has containers of higher priority start before the others: all but the
// lowest become native sidecars, one after the other.
func (p *pod) launch(priorities []int) {
	lowest := slices.Min(priorities)
	order := make([]int, len(priorities))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(priorities[b], priorities[a]) })
	for i, priority := range priorities {
		p.change(i, func(c *tree.Node) {
			withoutEnv(c, kruise.ContainerPriorityEnv)
			if priority > lowest {
				always(c)
				p.gate(i, c)
			}
		})
	}
	p.sidecars(order, func(i int) bool { return priorities[i] > lowest })
	p.unmark()
	p.report("containerlaunchpriority/sidecars", "spec.containers")
	if together(priorities, lowest) {
		p.report("containerlaunchpriority/equal", "spec.containers")
	}
}

// gate has the next container wait until this one is ready, as Kruise does: a
// native sidecar's start-up probe is what the next one waits for. One that never
// becomes ready holds the others back for ever, without being restarted.
func (p *pod) gate(i int, c *tree.Node) {
	if tree.Has(c, "startupProbe") {
		return
	}
	ready := tree.Get(c, "readinessProbe")
	if !tree.IsMap(ready) {
		return
	}
	probe := tree.Shallow(ready)
	tree.Delete(probe, "successThreshold")
	tree.Set(probe, "failureThreshold", tree.Int64(math.MaxInt32))
	tree.InsertAfter(c, "readinessProbe", "startupProbe", probe)
	p.report("containerlaunchpriority/probe", "spec.containers["+itoa(i)+"].readinessProbe")
}

// together reports whether two of the sidecars have one priority.
func together(priorities []int, lowest int) bool {
	seen := map[int]bool{}
	for _, n := range priorities {
		if n > lowest && seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

// unmark takes the annotation that asks for order: it has been answered.
func (p *pod) unmark() {
	if tree.StrAt(p.template, "metadata", "annotations", kruise.ContainerLaunchPriorityAnnotation) == "" {
		return
	}
	metadata := tree.Shallow(tree.Get(p.template, "metadata"))
	annotations := tree.Shallow(tree.Get(metadata, "annotations"))
	tree.Delete(annotations, kruise.ContainerLaunchPriorityAnnotation)
	if len(annotations.Content) == 0 {
		tree.Delete(metadata, "annotations")
	} else {
		tree.Set(metadata, "annotations", annotations)
	}
	tree.Set(p.template, "metadata", metadata)
}
