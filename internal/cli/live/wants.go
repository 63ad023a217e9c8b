package live

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// asker collects the questions that rendering a stream raises.
type asker struct {
	stream    []*resource.Resource
	namespace string
	// served is the newest version of each group that is no part of Kubernetes.
	served map[string]string
	list   []want
	// held are the objects of the stream, by what an API server names them.
	held map[resource.ID]bool
}

// wants lists the questions that rendering stream raises, and no other: who may
// not read nodes shall not be told so when nothing depends on them.
func wants(stream []*resource.Resource, namespace string, served map[string]string) []want {
	a := &asker{stream: stream, namespace: namespace, served: served}
	a.asked()
	if a.has(kruise.KindSidecarSet, kruise.KindResourceDistribution) {
		a.ask(want{kind: namespaces, what: "namespaces"})
	}
	if a.has(kruise.KindAdvancedCronJob, kruise.KindBroadcastJob, kruise.KindImageListPullJob, kruise.KindImagePullJob, kruise.KindPersistentPodState, kruise.KindWorkloadSpread) {
		a.ask(want{kind: nodes, what: "nodes"})
	}
	if a.has(kruise.KindSidecarSet, kruise.KindPersistentPodState, kruise.KindWorkloadSpread) {
		a.ask(want{kind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName})
	}
	a.injection()
	a.subsets()
	a.states()
	a.places()
	a.targets()
	a.spreads()
	a.autoscaled()
	a.governed()
	a.pulled()
	return a.list
}

// ask adds a question, unless it is about a kind that is not served.
func (a *asker) ask(w want) {
	if w.version = a.served[w.group]; w.kind.version != "" || w.version != "" {
		a.list = append(a.list, w)
	}
}

// each asks for kinds in the namespaces of the stream's objects of some kinds.
func (a *asker) each(of []string, kinds ...want) {
	for _, ns := range a.namespacesOf(pick(a.stream, of...)) {
		for _, w := range kinds {
			w.namespace, w.what = ns, w.what+" in "+ns
			a.ask(w)
		}
	}
}

// injection asks for what a pod gets besides the containers of SidecarSets.
func (a *asker) injection() {
	if !a.has(kruise.KindSidecarSet) {
		return
	}
	a.ask(want{kind: revisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel})
	for _, ns := range a.namespacesOf(a.stream) {
		a.ask(want{kind: limitRanges, what: "limit ranges in " + ns, namespace: ns})
		a.ask(want{kind: serviceAccounts, what: "service accounts in " + ns, namespace: ns})
	}
}

// subsets asks for the workloads of UnitedDeployments, whose sizes decide where
// remainders go, and for those of their pods that weigh in.
func (a *asker) subsets() {
	a.each([]string{kruise.KindUnitedDeployment}, subsetWants()...)
}

func subsetWants() []want {
	list := []want{{kind: unitedDeployments, what: "UnitedDeployments", selectable: true}}
	for _, k := range []*kind{deployments, statefulSets, cloneSets, advancedSets} {
		list = append(list, want{kind: k, what: k.title() + " of subsets", selector: kruise.SubsetNameLabel, selectable: true})
	}
	return append(list, want{kind: pods, what: "pods of subsets", selector: kruise.SubsetNameLabel, selectable: true, only: weighs})
}

// states asks for what controllers have recorded.
func (a *asker) states() {
	a.each([]string{kruise.KindWorkloadSpread}, want{kind: workloadSpreads, what: "WorkloadSpreads", selectable: true})
	a.each([]string{kruise.KindPodUnavailableBudget}, want{kind: budgets, what: "PodUnavailableBudgets", selectable: true})
}

// targets asks for the workloads that the stream's objects name, and does not hold.
func (a *asker) targets() {
	for _, r := range pick(a.stream, kruise.KindPersistentPodState, kruise.KindPodUnavailableBudget, kruise.KindWorkloadSpread) {
		ref := tree.Get(r.Node(), "spec", "targetRef")
		group, name := resource.GroupOf(tree.StrAt(ref, "apiVersion")), tree.StrAt(ref, "name")
		for _, k := range []*kind{deployments, statefulSets, replicaSets, cloneSets, advancedSets, advancedDaemons} {
			if k.group == group && k.name == tree.StrAt(ref, "kind") && name != "" && !a.holds(k, r, name) {
				a.ask(want{kind: k, what: k.title() + " " + name, namespace: a.namespaceOf(r), fields: "metadata.name=" + name})
			}
		}
	}
}

func (a *asker) holds(k *kind, beside *resource.Resource, name string) bool {
	if a.held == nil {
		a.held = make(map[resource.ID]bool, len(a.stream))
		for _, r := range a.stream {
			id := r.ID()
			id.Namespace = a.namespaceOf(r)
			a.held[id] = true
		}
	}
	return a.held[resource.ID{Group: k.group, Kind: k.name, Namespace: a.namespaceOf(beside), Name: name}]
}

// autoscaled asks for the autoscalers that may own the replicas of a workload.
func (a *asker) autoscaled() {
	of := []string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment}
	a.each(of, want{kind: autoscalers, what: "HorizontalPodAutoscalers", only: scalesKruise})
	a.each(append(of, kruise.KindWorkloadSpread), want{kind: scaledObjects, what: "ScaledObjects"})
}

// governed asks for the Services that are in the way of a CloneSet's own, or
// that serve for it.
func (a *asker) governed() {
	names := map[string]map[string]bool{}
	for _, r := range pick(a.stream, kruise.KindCloneSet) {
		if len(tree.Items(tree.Get(r.Node(), "spec", "volumeClaimTemplates"))) == 0 {
			continue
		}
		ns, name := a.namespaceOf(r), strings.ReplaceAll(r.Name(), ".", "-")
		if names[ns] == nil {
			names[ns] = map[string]bool{}
		}
		names[ns][name], names[ns][name+"-headless"] = true, true
	}
	for _, ns := range sorted(names) {
		a.ask(want{kind: services, what: "services in " + ns, namespace: ns, only: func(o map[string]any) bool { return names[ns][nameOf(o)] }})
	}
}

// pulled asks for the pods whose nodes are to have an image.
func (a *asker) pulled() {
	for _, r := range pick(a.stream, kruise.KindImagePullJob, kruise.KindImageListPullJob) {
		var chosen metav1.LabelSelector
		n := tree.Get(r.Node(), "spec", "podSelector")
		if _, err := tree.Decode(n, &chosen); n == nil || err != nil {
			continue // a fault that rendering reports
		}
		if selector, err := metav1.LabelSelectorAsSelector(&chosen); err == nil {
			a.ask(want{kind: pods, what: "pods for " + r.ID().String(), namespace: a.namespaceOf(r), selector: selector.String(), only: placed})
		}
	}
}

func (a *asker) namespaceOf(r *resource.Resource) string {
	return cmp.Or(r.Namespace(), a.namespace, resource.DefaultNamespace)
}

func (a *asker) has(kinds ...string) bool { return len(pick(a.stream, kinds...)) > 0 }

// namespacesOf returns where those of the objects live that have a spec, sorted.
func (a *asker) namespacesOf(list []*resource.Resource) []string {
	names := map[string]bool{}
	for _, r := range list {
		if tree.Get(r.Node(), "spec") != nil {
			names[a.namespaceOf(r)] = true
		}
	}
	return sorted(names)
}
