package ui

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// distributions sets distributions against what there is, once a round, for the screens that want
// it; nil before all of it has been loaded.
func (f *namespaceReader) distributions(now time.Time) *world.Distributions {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spread != nil && f.spreadRound == f.rounds {
		return f.spread
	}
	objects, ok := f.Distributions()
	if !ok || !f.loaded {
		return nil
	}
	f.spread, f.spreadRound = distributionReader{f, objects, now}.readAll(), f.rounds
	return f.spread
}

// distributionReader puts together what fans out and the workloads that are looked at.
type distributionReader struct {
	*namespaceReader
	kube.Distributions
	now time.Time
}

func (f distributionReader) readAll() *world.Distributions {
	var out []*world.Distribution
	for _, ud := range f.United {
		if one := f.unitedDeployment(ud); one != nil {
			out = append(out, one)
		}
	}
	for _, ws := range f.Spreads {
		if one := f.spreads(ws); one != nil {
			out = append(out, one)
		}
	}
	for _, rd := range f.Distributions.Distributions {
		out = append(out, f.distribution(rd))
	}
	for _, job := range f.Pulls {
		out = append(out, world.SurveyPulls(job, f.NodeImages))
	}
	return world.SurveyDistributions(out...)
}

// unitedDeployment is a UnitedDeployment; nil for one whose workloads are not looked at.
func (f distributionReader) unitedDeployment(ud *kruise.UnitedDeployment) *world.Distribution {
	var subsets []*tree.Node
	for _, s := range f.workloads {
		if o, ok := s.Workload.Object.(metav1.Object); ok && metav1.IsControlledBy(o, ud) {
			subsets = append(subsets, templateNode(s.Workload))
		}
	}
	if len(subsets) == 0 && f.hasSelector {
		return nil
	}
	var pods []*cluster.Pod
	selector, err := metav1.LabelSelectorAsSelector(ud.Spec.Selector)
	for _, p := range f.Pods {
		if err == nil && p.Namespace == ud.Namespace && selector.Matches(labels.Set(p.Labels)) {
			pods = append(pods, p)
		}
	}
	return world.SurveyUnited(ud, subsets, pods)
}

// spreads is a WorkloadSpread; nil for one whose target is not looked at.
func (f distributionReader) spreads(ws *kruise.WorkloadSpread) *world.Distribution {
	target := f.target(ws)
	if target == nil {
		return f.adrift(ws)
	}
	updated := map[string]bool{}
	if q, err := question(target, f.now); err == nil {
		updated = world.Describe(q, nil).Updated
	}
	return world.SurveySpread(ws, templateNode(target.Workload), target.Pods, updated)
}

func (f distributionReader) target(ws *kruise.WorkloadSpread) *kube.WorkloadView {
	r := ws.Spec.TargetReference
	if r == nil {
		return nil
	}
	group := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind).Group
	return f.workloads[cluster.Ref{Group: group, Kind: r.Kind, Namespace: ws.Namespace, Name: r.Name}]
}

// adrift is a WorkloadSpread without a target that is looked at: nil where the selector
// has left it out.
func (f distributionReader) adrift(ws *kruise.WorkloadSpread) *world.Distribution {
	out := world.SurveySpread(ws, nil, nil, nil)
	switch r := ws.Spec.TargetReference; {
	case f.hasSelector:
		return nil
	case r != nil && !followedKinds[r.Kind]:
		out.Health = world.Healthy
		out.Problems = []string{"its target is of a kind that is not looked at here: 'kubectl kruise why workloadspread/" + ws.Name + "' shows its subsets"}
	}
	return out
}

// followedKinds are the kinds whose objects are all looked at.
var followedKinds = map[string]bool{kruise.KindCloneSet: true, kruise.KindDeployment: true, kruise.KindStatefulSet: true, kruise.KindDaemonSet: true}

// distribution is a ResourceDistribution. Without namespaces its targets are not known.
func (f distributionReader) distribution(rd *kruise.ResourceDistribution) *world.Distribution {
	out := world.SurveyCopies(rd, f.Namespaces)
	if f.Namespaces == nil {
		out.Problems, out.Health = []string{"namespaces may not be read here: which ones it is for is not known"}, world.Degraded
	}
	return out
}

// templateNode is a workload as the cluster has it.
func templateNode(w *cluster.Workload) *tree.Node {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.Object)
	if err != nil {
		object = map[string]any{}
	}
	object["kind"] = w.Kind
	return tree.FromValue(object)
}

// sidecars sets all SidecarSets against the workloads that are looked at, once a round,
// for the screens that want them; nil before anything has been loaded.
func (f *namespaceReader) sidecars(now time.Time) *world.Sidecars {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.matrixRound == f.rounds {
		return f.matrix
	}
	owners := map[string]cluster.Ref{}
	for ref, s := range f.workloads {
		if ref.Kind == kruise.KindSidecarSet {
			continue
		}
		for _, p := range s.Pods {
			owners[p.UID] = ref
		}
	}
	var sets []diagnose.Question
	for _, s := range f.SidecarSets() {
		if q, err := question(s, now); err == nil {
			sets = append(sets, q)
		}
	}
	f.matrix = world.SurveySidecars(sets, func(p *cluster.Pod) cluster.Ref { return owners[p.UID] })
	f.matrixRound = f.rounds
	return f.matrix
}
