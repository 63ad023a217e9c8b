package lower

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// statefulSet is one Advanced StatefulSet on its way to a StatefulSet.
type statefulSet struct {
	object
	spec   kruise.StatefulSetSpec
	client bool
}

// lowerStatefulSet returns what the Advanced StatefulSet r becomes. Names of pods
// and claims stay, so the StatefulSet can take over the claims.
func lowerStatefulSet(c *stage.Context, _ *around, r *resource.Resource) ([]*resource.Resource, error) {
	var set kruise.StatefulSet
	o, err := read(c, r, "statefulset", &set)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	s := &statefulSet{object: o, spec: set.Spec, client: c.Driver == stage.Client}
	if err := s.named(); err != nil {
		return nil, err
	}
	out := resource.Derived(s.native("apps/v1", kruise.KindStatefulSet, s.nativeSpec), r)
	s.reportFields()
	c.Lineage.Became(r.ID(), out)
	return []*resource.Resource{out}, nil
}

// nativeSpec returns the spec of the StatefulSet.
func (s *statefulSet) nativeSpec(spec *tree.Node) *tree.Node {
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "template":
			return name, s.template(v)
		case "updateStrategy":
			return name, s.strategy()
		case "ordinals", "reserveOrdinals", "lifecycle", "scaleStrategy", "volumeClaimUpdateStrategy":
			return name, nil
		default:
			return name, v
		}
	})
	if !tree.Has(out, "updateStrategy") {
		tree.InsertAfter(out, "selector", "updateStrategy", s.strategy())
	}
	if seconds := s.rolling().MinReadySeconds; seconds != nil && *seconds > 0 {
		tree.InsertAfter(out, "selector", "minReadySeconds", tree.Int64(int64(*seconds)))
	}
	if first := s.first(); first > 0 {
		tree.InsertAfter(out, "selector", "ordinals", tree.Map("start", tree.Int64(int64(first))))
	}
	return out
}

// strategy returns the update strategy of the StatefulSet.
func (s *statefulSet) strategy() *tree.Node {
	if s.client || s.onDelete() || s.rolling().Paused {
		return tree.Map("type", "OnDelete")
	}
	rolling := tree.Map()
	if u := s.rolling().MaxUnavailable; u != nil && u.String() != "1" && s.c.Since(maxUnavailableServed) {
		tree.Set(rolling, "maxUnavailable", number(*u))
	}
	if p := s.floor(); p > 0 {
		tree.Set(rolling, "partition", tree.Int64(int64(p)))
	}
	out := tree.Map("type", "RollingUpdate")
	if len(rolling.Content) > 0 {
		tree.Set(out, "rollingUpdate", rolling)
	}
	return out
}

// maxUnavailableServed is the version of Kubernetes in which a StatefulSet's
// maxUnavailable is on by default (docs/facts/kubernetes.md#features-by-version).
const maxUnavailableServed = 37

// floor is the lowest ordinal's distance from the first that is updated. Kruise's
// partition is a number of pods, and they are those with the lowest ordinals:
// the same number, unless it is more than all.
func (s *statefulSet) floor() int {
	if s.rolling().Partition == nil {
		return 0
	}
	return max(int(*s.rolling().Partition), 0)
}

func (s *statefulSet) onDelete() bool {
	return s.spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
}

// rolling is the source's rollingUpdate, empty where it has none or ignores it.
func (s *statefulSet) rolling() kruise.RollingUpdateStatefulSetStrategy {
	if r := s.spec.UpdateStrategy.RollingUpdate; r != nil && !s.onDelete() {
		return *r
	}
	return kruise.RollingUpdateStatefulSetStrategy{}
}

func (s *statefulSet) replicas() int {
	if s.spec.Replicas == nil {
		return 1
	}
	return int(*s.spec.Replicas)
}
