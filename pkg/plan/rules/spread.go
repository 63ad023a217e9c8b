package rules

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/spread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// VersionIgnored is the version of all pods of kinds whose versions a
// WorkloadSpread does not tell apart, which are all but Deployment and ReplicaSet.
const VersionIgnored = "versionIgnored"

// Spread is a WorkloadSpread with the pods of its target, as its webhook and its
// controller see them (docs/kruise/distribution.md#workloadspread).
type Spread struct {
	Name string
	Spec *kruise.WorkloadSpreadSpec
	// Status is what was written last; nil is nothing.
	Status *kruise.WorkloadSpreadStatus
	// Replicas is what percentages are of: the target's replicas, the parallelism
	// of a Job, or the sum of targetFilter.replicasPathList.
	Replicas int
	// Latest is the version of the target's newest pods: the template hash of a
	// Deployment's newest ReplicaSet, the label of that name of a ReplicaSet (empty
	// where it has none), [VersionIgnored] for other kinds.
	Latest string
	// Pods are those of the target, in any state.
	Pods []*cluster.Pod
	Now  time.Time
}

// Version is the version of a pod for the WorkloadSpread.
func (s *Spread) Version(p *cluster.Pod) string {
	if hash := p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" && s.versioned() {
		return hash
	}
	return VersionIgnored
}

func (s *Spread) versioned() bool { return s.targets(kruise.KindDeployment, kruise.KindReplicaSet) }

// costed reports whether pods of the target get deletion costs.
func (s *Spread) costed() bool {
	return s.targets(kruise.KindCloneSet, kruise.KindDeployment, kruise.KindReplicaSet)
}

func (s *Spread) targets(kinds ...string) bool {
	ref := s.Spec.TargetReference
	return ref != nil && slices.Contains(kinds, ref.Kind)
}

// Admits reports whether the webhook looks at a new pod with these labels. A
// targetFilter without selector matches none there.
func (s *Spread) Admits(set map[string]string) bool {
	f := s.Spec.TargetFilter
	return f == nil || f.Selector != nil && selects(f.Selector, set)
}

// counts reports whether the controller looks at the pod. Without a selector it
// looks at all, unlike the webhook (recorded in 030).
func (s *Spread) counts(p *cluster.Pod) bool {
	f := s.Spec.TargetFilter
	return Active(p) && (f == nil || f.Selector == nil || selects(f.Selector, p.Labels))
}

func selects(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// SubsetOf is the subset that the pod's annotation names, or [spread.None].
func (s *Spread) SubsetOf(p *cluster.Pod) int {
	m, ok := spread.ReadMatch(p.Annotations)
	if !ok || m.Spread != s.Name {
		return spread.None
	}
	return slices.IndexFunc(s.Spec.Subsets, func(subset kruise.WorkloadSpreadSubset) bool { return subset.Name == m.Subset })
}

// Unplaced are the bound pods that belong to no subset yet.
func (s *Spread) Unplaced() []*cluster.Pod {
	return filter(s.Pods, func(p *cluster.Pod) bool {
		return s.counts(p) && p.Node != "" && s.SubsetOf(p) == spread.None
	})
}

// share are the active pods of one version in one subset.
type share struct {
	version string
	subset  int
}

// shares groups the pods that count. Versions are all that occur, sorted.
func (s *Spread) shares() (groups map[share][]*cluster.Pod, versions []string) {
	groups = map[share][]*cluster.Pod{}
	for _, p := range s.Pods {
		if s.counts(p) {
			key := share{s.Version(p), s.SubsetOf(p)}
			groups[key] = append(groups[key], p)
			versions = append(versions, key.version)
		}
	}
	slices.SortFunc(versions, strings.Compare)
	return groups, slices.Compact(versions)
}
