package lower

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// canaryPair is a CloneSet whose partition keeps pods at an old template, and which
// becomes two workloads: a stable one with the name, the selector and the old
// template, and a canary beside it with the new one.
type canaryPair struct {
	*cloneSetExpansion

	template *tree.Node
	// lowered is whether template is that of a native workload already.
	lowered bool
	// kept are the stable one's pods, of total.
	kept, total int
}

const (
	partitionField = rollingUpdate + "partition"
	// canaryNameLimit leaves names of pods what Kubernetes adds to them.
	canaryNameLimit = 63
)

// canaryPair returns how the CloneSet is divided; nil where it is not: all pods are to
// have the new template, the old one is unknown or equal, or the native form has a
// partition of its own. It then reports the finding about the partition.
func (l *cloneSetExpansion) canaryPair() *canaryPair {
	s := l.spec.UpdateStrategy
	if l.c.Before == nil || l.form.statefulSet() || l.paused() || s.Type == kruise.OnDeleteCloneSetStrategyType {
		return nil
	}
	p := &canaryPair{cloneSetExpansion: l, total: l.totalReplicas()}
	if p.kept = rules.Partition(l.rolling().Partition, p.total); p.kept == 0 {
		return nil
	}
	if !p.findOldTemplate() {
		l.divided = true
		l.report("cloneset/canary-no-base", partitionField, "")
		return nil
	}
	now := tree.Get(p.hub, "spec", "template")
	unchanged := tree.Equal(p.template, now)
	if p.lowered { // a rendered template may have sidecars besides
		unchanged = contains(tree.Value(p.template), tree.Value(p.withoutFindings().template(now)))
	}
	if unchanged {
		l.divided = true
		l.report("cloneset/canary-unchanged", partitionField, "")
		return nil
	}
	return p
}

// totalReplicas is the number of pods: that of the object or, when it leaves the number
// to an autoscaler, that of the cluster or of the state before.
func (l *cloneSetExpansion) totalReplicas() int {
	id := l.c.Facts.IDOf(l.r)
	for _, r := range []*resource.Resource{l.r, l.c.Facts.Existing(l.r), l.c.Before.Find(id), l.c.Before.Find(l.nativeID())} {
		if r == nil {
			continue
		}
		if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
			return int(n)
		}
	}
	return l.declaredReplicas()
}

// nativeID names the native workload that an earlier render made.
func (l *cloneSetExpansion) nativeID() resource.ID {
	id := l.c.Facts.IDOf(l.r)
	id.Group, id.Kind = "apps", l.form.kind
	return id
}

// findOldTemplate looks the old template up: in the CloneSet as it was, else in the native
// workload that was rendered from it.
func (p *canaryPair) findOldTemplate() bool {
	if was := p.c.Before.Find(p.c.Facts.IDOf(p.r)); was != nil {
		if hub, _, err := kruise.ToHub(was.Node()); err == nil {
			p.template = tree.Get(hub, "spec", "template")
			return tree.IsMap(p.template)
		}
	}
	if was := p.c.Before.Find(p.nativeID()); was != nil {
		p.template, p.lowered = tree.Get(was.Node(), "spec", "template"), true
	}
	return tree.IsMap(p.template)
}

// contains reports whether whole has everything that part has.
func contains(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for key, v := range part {
			ok = ok && contains(w[key], v)
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		for _, item := range part {
			found := false
			for _, have := range w {
				found = found || contains(have, item)
			}
			ok = ok && found
		}
		return ok
	}
	return whole == part
}

// workloads returns the canary and the stable workload, in this order: applied so,
// the canary's pods are there before stable ones go.
func (p *canaryPair) workloads() (canary, stable *resource.Resource) {
	stable = resource.Derived(p.stable(), p.r)
	canary = resource.Derived(p.canary(), p.r)
	detail := fmt.Sprintf("%d of %s at the old template as %s %s, the other %d are %s %s",
		p.kept, counted.With(p.total, "pod stays", "pods stay"), p.form.kind, p.r.Name(), p.total-p.kept, p.form.kind, canary.Name())
	p.report("cloneset/canary", partitionField, detail)
	if p.replicas == nil {
		p.report("cloneset/canary-autoscaled", "spec.replicas", "")
	}
	return canary, stable
}

// stable is the workload with the old template. Findings about fields
// are reported for the canary.
func (p *canaryPair) stable() *tree.Node {
	out := p.withReplicas(p.kept)
	if !p.lowered {
		tree.Set(tree.Get(out.hub, "spec"), "template", p.template)
	}
	n := out.workload("")
	if p.lowered {
		tree.Set(tree.Get(n, "spec"), "template", p.template)
	}
	if p.replicas == nil && p.spec.Replicas == nil {
		tree.DeleteAt(n, "spec", "replicas")
	}
	dropComment(n) // the canary has it
	return n
}

// canary is the workload with the new template. Its pods have the labels of the
// stable one's, which Services and budgets select, and one more, by which the two
// workloads distinguish them.
func (p *canaryPair) canary() *tree.Node {
	out := p.withReplicas(p.total - p.kept)
	out.c, out.divided = p.c, true
	spec := tree.Get(out.hub, "spec")
	for _, path := range [][]string{{"selector", "matchLabels"}, {"template", "metadata", "labels"}} {
		setCanaryLabel(spec, path)
	}
	metadata := tree.Get(out.hub, "metadata")
	tree.Set(metadata, "name", tree.String(stage.PieceName(p.r.Name(), "canary", canaryNameLimit, false)))
	setCanaryLabel(metadata, []string{"labels"})
	removeToolMetadata(metadata)
	return out.workload("")
}

// withReplicas returns the lowering of a copy of the object with this number of replicas; it
// reports nothing. The annotations of both workloads have the spec of the whole object.
func (p *canaryPair) withReplicas(replicas int) *canaryPair {
	out := *p
	out.cloneSetExpansion = p.withoutFindings()
	n := int32(replicas)
	out.spec.Replicas = &n
	if p.replicas != nil {
		out.replicas = &replicas
	}
	spec, metadata := stage.Block(tree.Get(p.hub, "spec")), stage.Block(tree.Get(p.hub, "metadata"))
	tree.Set(spec, "replicas", tree.Int64(int64(replicas)))
	p.identify(metadata)
	tree.Set(out.hub, "spec", spec)
	tree.Set(out.hub, "metadata", metadata)
	return &out
}

// withoutFindings returns the lowering of a copy of the object that drops its findings.
func (l *cloneSetExpansion) withoutFindings() *cloneSetExpansion {
	out, c := *l, *l.c
	c.Findings = &finding.Reporter{}
	out.c, out.hub = &c, tree.Shallow(l.hub)
	return &out
}

// setCanaryLabel puts the label of the canary into the mapping that a path leads to; each
// level is copied, as others may share it.
func setCanaryLabel(at *tree.Node, path []string) {
	for _, key := range path {
		next := tree.Get(at, key)
		if !tree.IsMap(next) {
			next = tree.Map()
		}
		next = stage.Block(next)
		tree.Set(at, key, next)
		at = next
	}
	tree.Set(at, kruise.TrackLabel, tree.String(kruise.TrackCanary))
}

// removeToolMetadata removes what kustomize and kpt store about the object that both workloads
// came from, except for the layers that it has passed (docs/facts/kustomize.md#roles).
func removeToolMetadata(metadata *tree.Node) {
	annotations := tree.Get(metadata, "annotations")
	if !tree.IsMap(annotations) {
		return
	}
	annotations = tree.Shallow(annotations)
	for key := range tree.Strings(annotations) {
		layer := strings.HasSuffix(key, "/prefixes") || strings.HasSuffix(key, "/suffixes")
		if strings.HasPrefix(key, "internal.config.kubernetes.io/") && !layer ||
			strings.HasPrefix(key, "kustomize.config.k8s.io/") || strings.HasPrefix(key, "config.kubernetes.io/") || key == "config.k8s.io/id" {
			tree.Delete(annotations, key)
		}
	}
	tree.Set(metadata, "annotations", annotations)
}
