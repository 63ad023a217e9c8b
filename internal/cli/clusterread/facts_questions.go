package clusterread

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/placement"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// factQuestions collects the questions that rendering a stream raises.
type factQuestions struct {
	stream    []*resource.Resource
	namespace string
	// served is the newest version of each group that is no part of Kubernetes.
	served map[string]string
	list   []factQuery
	// held are the objects of the stream, by what an API server names them.
	held map[resource.ID]bool
}

// questionsFor lists the questions that rendering stream raises, and no other: who may
// not read nodes get no warning when nothing depends on them.
func questionsFor(stream []*resource.Resource, namespace string, served map[string]string) []factQuery {
	a := &factQuestions{stream: stream, namespace: namespace, served: served}
	a.podsOfRequests()
	if a.has(kruise.KindSidecarSet, kruise.KindResourceDistribution) {
		a.ask(factQuery{factKind: namespaces, what: "namespaces"})
	}
	if a.has(kruise.KindAdvancedCronJob, kruise.KindBroadcastJob, kruise.KindImageListPullJob, kruise.KindImagePullJob, kruise.KindPersistentPodState, kruise.KindWorkloadSpread) {
		a.ask(factQuery{factKind: nodeFacts, what: "nodes"})
	}
	if a.has(kruise.KindSidecarSet, kruise.KindPersistentPodState, kruise.KindWorkloadSpread) {
		a.ask(factQuery{factKind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName})
	}
	a.injection()
	a.askInNamespaces([]string{kruise.KindUnitedDeployment}, subsetWants()...)
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
func (a *factQuestions) ask(w factQuery) {
	if w.version = a.served[w.group]; w.factKind.version != "" || w.version != "" {
		a.list = append(a.list, w)
	}
}

// askInNamespaces asks for kinds in the namespaces of the stream's objects of some kinds.
func (a *factQuestions) askInNamespaces(of []string, kinds ...factQuery) {
	for _, ns := range a.namespacesOf(ofKinds(a.stream, of...)) {
		for _, w := range kinds {
			w.namespace, w.what = ns, w.what+" in "+ns
			a.ask(w)
		}
	}
}

// injection asks for what a pod gets besides the containers of SidecarSets.
func (a *factQuestions) injection() {
	if !a.has(kruise.KindSidecarSet) {
		return
	}
	a.ask(factQuery{factKind: sidecarRevisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel})
	for _, ns := range a.namespacesOf(a.stream) {
		a.ask(factQuery{factKind: limitRanges, what: "limit ranges in " + ns, namespace: ns})
		a.ask(factQuery{factKind: serviceAccounts, what: "service accounts in " + ns, namespace: ns})
	}
}

// subsetWants are the workloads of UnitedDeployments, whose sizes decide where
// remainders go, and those of their pods that weigh in.
func subsetWants() []factQuery {
	list := []factQuery{{factKind: unitedDeployments, what: "UnitedDeployments", selectable: true}}
	for _, k := range []*factKind{deployments, statefulSets, cloneSets, advancedSets} {
		list = append(list, factQuery{factKind: k, what: k.title() + " of subsets", selector: kruise.SubsetNameLabel, selectable: true})
	}
	return append(list, factQuery{factKind: podFacts, what: "pods of subsets", selector: kruise.SubsetNameLabel, selectable: true, only: countsForSubset})
}

// states asks for what controllers have recorded.
func (a *factQuestions) states() {
	a.askInNamespaces([]string{kruise.KindWorkloadSpread}, factQuery{factKind: workloadSpreads, what: "WorkloadSpreads", selectable: true})
	a.askInNamespaces([]string{kruise.KindPodUnavailableBudget}, factQuery{factKind: podUnavailableBudgets, what: "PodUnavailableBudgets", selectable: true})
}

// targets asks for the workloads that the stream's objects name, and does not hold.
func (a *factQuestions) targets() {
	for _, r := range ofKinds(a.stream, kruise.KindPersistentPodState, kruise.KindPodUnavailableBudget, kruise.KindWorkloadSpread) {
		ref := tree.Get(r.Node(), "spec", "targetRef")
		group, name := resource.GroupOf(tree.StrAt(ref, "apiVersion")), tree.StrAt(ref, "name")
		for _, k := range []*factKind{deployments, statefulSets, replicaSets, cloneSets, advancedSets, advancedDaemons} {
			if k.group == group && k.name == tree.StrAt(ref, "kind") && name != "" && !a.hasObject(k, r, name) {
				a.ask(factQuery{factKind: k, what: k.title() + " " + name, namespace: a.namespaceOf(r), fields: "metadata.name=" + name})
			}
		}
	}
}

func (a *factQuestions) hasObject(k *factKind, beside *resource.Resource, name string) bool {
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
func (a *factQuestions) autoscaled() {
	of := []string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment}
	a.askInNamespaces(of, factQuery{factKind: autoscalers, what: "HorizontalPodAutoscalers", only: scalesKruise})
	a.askInNamespaces(append(of, kruise.KindWorkloadSpread), factQuery{factKind: scaledObjects, what: "ScaledObjects"})
}

// governed asks for the Services that conflict with a CloneSet's own, or
// that serve for it.
func (a *factQuestions) governed() {
	names := map[string]map[string]bool{}
	for _, r := range ofKinds(a.stream, kruise.KindCloneSet) {
		if len(tree.Items(tree.Get(r.Node(), "spec", "volumeClaimTemplates"))) == 0 {
			continue
		}
		ns, name := a.namespaceOf(r), strings.ReplaceAll(r.Name(), ".", "-")
		if names[ns] == nil {
			names[ns] = map[string]bool{}
		}
		names[ns][name], names[ns][name+"-headless"] = true, true
	}
	for _, ns := range sortedKeys(names) {
		a.ask(factQuery{factKind: services, what: "services in " + ns, namespace: ns, only: func(o map[string]any) bool { return names[ns][nameOf(o)] }})
	}
}

// pulled asks for the pods whose nodes are to have an image.
func (a *factQuestions) pulled() {
	for _, r := range ofKinds(a.stream, kruise.KindImagePullJob, kruise.KindImageListPullJob) {
		var chosen metav1.LabelSelector
		n := tree.Get(r.Node(), "spec", "podSelector")
		if _, err := tree.Decode(n, &chosen); n == nil || err != nil {
			continue // a fault that rendering reports
		}
		if selector, err := metav1.LabelSelectorAsSelector(&chosen); err == nil {
			a.ask(factQuery{factKind: podFacts, what: "pods for " + r.ID().String(), namespace: a.namespaceOf(r), selector: selector.String(), only: isOnNode})
		}
	}
}

func (a *factQuestions) namespaceOf(r *resource.Resource) string {
	return cmp.Or(r.Namespace(), a.namespace, resource.DefaultNamespace)
}

func (a *factQuestions) has(kinds ...string) bool { return len(ofKinds(a.stream, kinds...)) > 0 }

// namespacesOf returns where those of the objects live that have a spec, sorted.
func (a *factQuestions) namespacesOf(list []*resource.Resource) []string {
	names := map[string]bool{}
	for _, r := range list {
		if tree.Get(r.Node(), "spec") != nil {
			names[a.namespaceOf(r)] = true
		}
	}
	return sortedKeys(names)
}

// allQuestions lists the questions that any rendering may raise, in one namespace
// or ("") in all. Services and the pods of image pulls are left out: which of
// them matter depends on what is rendered.
func allQuestions(namespace string, served map[string]string) []factQuery {
	a := &factQuestions{namespace: namespace, served: served}
	for _, w := range []factQuery{
		{factKind: namespaces, what: "namespaces"},
		{factKind: nodeFacts, what: "nodes"},
		{factKind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName},
		{factKind: sidecarRevisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel},
		{factKind: resourceDistributions, what: "ResourceDistributions"},
	} {
		a.ask(w)
	}
	for _, w := range append([]factQuery{
		{factKind: limitRanges, what: "limit ranges"},
		{factKind: serviceAccounts, what: "service accounts"},
		{factKind: autoscalers, what: "HorizontalPodAutoscalers", only: scalesKruise},
		{factKind: scaledObjects, what: "ScaledObjects", only: scalesKruise},
		{factKind: workloadSpreads, what: "WorkloadSpreads", selectable: true},
		{factKind: podStates, what: "PersistentPodStates", selectable: true},
		{factKind: renderedStates, what: "rendered states of pods", selector: kruise.SourceLabel, only: ofPodStates},
		{factKind: podUnavailableBudgets, what: "PodUnavailableBudgets", selectable: true},
	}, subsetWants()...) {
		w.namespace = namespace
		a.ask(w)
	}
	return a.list
}

// markOnly takes away all of the environment but the mark.
func markOnly(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	list, _ := spec["ephemeralContainers"].([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		env, _ := c["env"].([]any)
		delete(c, "env")
		for _, e := range env {
			if v, _ := e.(map[string]any); v["name"] == kruise.EphemeralJobEnv {
				c["env"] = []any{v}
			}
		}
	}
}

// podsOfRequests asks for the pods of which the stream asks something. It comes before all
// other questions about pods: of two answers about one pod the first is kept.
func (a *factQuestions) podsOfRequests() {
	for _, r := range ofKinds(a.stream, kruise.KindContainerRecreateRequest) {
		if name := tree.StrAt(r.Node(), "spec", "podName"); name != "" {
			a.askPods(r, factQuery{fields: "metadata.name=" + name})
		}
	}
	for _, r := range ofKinds(a.stream, kruise.KindEphemeralJob) {
		var chosen metav1.LabelSelector
		n := tree.Get(r.Node(), "spec", "selector")
		if _, err := tree.Decode(n, &chosen); n == nil || err != nil {
			continue // a fault that rendering reports
		}
		if selector, err := metav1.LabelSelectorAsSelector(&chosen); err == nil {
			a.askPods(r, factQuery{selector: selector.String()})
		}
	}
}

func (a *factQuestions) askPods(r *resource.Resource, w factQuery) {
	w.factKind, w.what, w.namespace = runningPods, "pods for "+r.ID().String(), a.namespaceOf(r)
	a.ask(w)
}

// spreads asks for the present replicas of a WorkloadSpread's target whose number
// the stream leaves to an autoscaler: of the target itself, and of what an earlier
// rendering made of it.
func (a *factQuestions) spreads() {
	for _, ws := range ofKinds(a.stream, kruise.KindWorkloadSpread) {
		ref := tree.Get(ws.Node(), "spec", "targetRef")
		for _, k := range []*factKind{deployments, statefulSets, replicaSets, cloneSets, advancedSets} {
			name := tree.StrAt(ref, "name")
			if k.group != resource.GroupOf(tree.StrAt(ref, "apiVersion")) || k.name != tree.StrAt(ref, "kind") || !a.unsized(k, ws, name) {
				continue
			}
			ns := a.namespaceOf(ws)
			a.ask(factQuery{factKind: k, what: k.title() + " " + name, namespace: ns, fields: "metadata.name=" + name})
			for _, piece := range []*factKind{k, deployments} { // what a CloneSet is lowered to
				a.ask(factQuery{factKind: piece, what: piece.title() + " of " + name, namespace: ns, selector: kruise.SpreadLabel + "=" + kruise.SourceValue(kruise.KindWorkloadSpread, ws.Name())})
				if k != cloneSets {
					break
				}
			}
			a.ask(factQuery{factKind: autoscalers, what: "HorizontalPodAutoscalers in " + ns, namespace: ns})
		}
	}
}

// unsized reports whether the stream holds a workload and leaves its replicas open.
func (a *factQuestions) unsized(k *factKind, beside *resource.Resource, name string) bool {
	for _, r := range a.stream {
		if r.Is(k.group, k.name) && r.Name() == name && a.namespaceOf(r) == a.namespaceOf(beside) {
			return tree.Get(r.Node(), "spec", "replicas") == nil
		}
	}
	return false
}

// unannotated takes the recorded annotations of pods away, which are never put
// back.
func unannotated(object map[string]any) {
	status, _ := object["status"].(map[string]any)
	states, _ := status["podStates"].(map[string]any)
	for _, state := range states {
		if s, ok := state.(map[string]any); ok {
			delete(s, "annotations")
		}
	}
}

// places asks where pods are to go back to. Kruise records that; where it is not,
// an earlier rendering has, or the pods that are there tell.
func (a *factQuestions) places() {
	wanted := slices.Clone(ofKinds(a.stream, placement.Kind))
	for _, r := range a.stream {
		if _, ok := placement.Generated(r.Node()); ok && r.Kind() == kruise.KindStatefulSet {
			wanted = append(wanted, r)
		}
	}
	for _, ns := range a.namespacesOf(append(wanted, ofKinds(a.stream, kruise.KindStatefulSet)...)) {
		a.ask(factQuery{factKind: podStates, what: "PersistentPodStates in " + ns, namespace: ns, selectable: true})
	}
	if len(wanted) == 0 || a.served[kruise.Group] != "" {
		return
	}
	if !a.has(placement.Kind) {
		a.ask(factQuery{factKind: nodeFacts, what: "nodes"})
	}
	for _, ns := range a.namespacesOf(wanted) {
		a.ask(factQuery{factKind: renderedStates, what: "rendered states of pods in " + ns, namespace: ns, selector: kruise.SourceLabel, only: ofPodStates})
		a.ask(factQuery{factKind: placedPods, what: "pods of StatefulSets in " + ns, namespace: ns, selector: appsv1.StatefulSetPodNameLabel, only: hasNode})
	}
}

// ofPodStates finds what was rendered for a PersistentPodState.
func ofPodStates(object map[string]any) bool {
	meta, _ := object["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	source, _ := labels[kruise.SourceLabel].(string)
	return strings.HasPrefix(source, strings.ToLower(placement.Kind)+".")
}

// hasNode finds pods that have a node.
func hasNode(object map[string]any) bool {
	spec, _ := object["spec"].(map[string]any)
	return spec["nodeName"] != nil
}

// conflicts asks for the ConfigMaps that a copy would conflict with: those
// with the name of what the stream distributes or, for an inventory, of what
// the cluster does. Secrets are never read: a conflict with one shows when the
// copy is applied.
func conflicts(scope FactScope, found []fact) []factQuery {
	distributions := ofKinds(scope.Stream, kruise.KindResourceDistribution)
	for _, f := range found {
		r := resource.Parsed(f.node, nil, resource.Origin{})
		if scope.Stream == nil && r.Is(kruise.Group, kruise.KindResourceDistribution) {
			distributions = append(distributions, r)
		}
	}
	names := map[string]bool{}
	for _, r := range distributions {
		if tree.StrAt(r.Node(), "spec", "resource", "kind") == "ConfigMap" {
			names[tree.StrAt(r.Node(), "spec", "resource", "metadata", "name")] = true
		}
	}
	var list []factQuery
	for _, name := range sortedKeys(names) {
		list = append(list, factQuery{factKind: copies, what: "ConfigMaps named " + name, fields: "metadata.name=" + name})
	}
	return list
}

// isImmutableCopy reports an immutable copy: whether it can be replaced depends on what
// is in it, which its source has anyway.
func isImmutableCopy(object map[string]any) bool {
	n := tree.FromValue(object)
	return tree.Bool(tree.Get(n, "immutable")) && slices.ContainsFunc(tree.Items(tree.Get(n, "metadata", "ownerReferences")), func(ref *tree.Node) bool {
		return tree.Bool(tree.Get(ref, "controller")) && resource.GroupOf(tree.StrAt(ref, "apiVersion")) == kruise.Group && tree.StrAt(ref, "kind") == kruise.KindResourceDistribution
	})
}

// countsForSubset reports a pod that counts when replicas are divided: one that waits
// for a node, or that is kept in reserve.
func countsForSubset(object map[string]any) bool {
	n := tree.FromValue(object)
	return tree.StrAt(n, "status", "phase") == "Pending" && tree.StrAt(n, "spec", "nodeName") == "" ||
		tree.StrAt(n, "metadata", "labels", kruise.UnitedDeploymentReservedPodLabel) == "true"
}

// isOnNode reports a pod that is on a node and has not ended.
func isOnNode(object map[string]any) bool {
	n := tree.FromValue(object)
	phase := tree.StrAt(n, "status", "phase")
	return tree.StrAt(n, "spec", "nodeName") != "" && phase != "Succeeded" && phase != "Failed"
}

// scalesKruise reports an autoscaler of one of Kruise's workloads, or of what one
// is lowered to.
func scalesKruise(object map[string]any) bool {
	ref := tree.Get(tree.FromValue(object), "spec", "scaleTargetRef")
	return slices.Contains([]string{kruise.KindCloneSet, kruise.KindDaemonSet, kruise.KindStatefulSet, kruise.KindUnitedDeployment}, tree.StrAt(ref, "kind")) &&
		resource.GroupOf(tree.StrAt(ref, "apiVersion")) == kruise.Group
}

func nameOf(object map[string]any) string {
	return tree.StrAt(tree.FromValue(object), "metadata", "name")
}

// title is the plural for people.
func (k *factKind) title() string {
	if k.group == kruise.Group {
		return "Kruise " + k.resource
	}
	return k.resource
}

func ofKinds(stream []*resource.Resource, kinds ...string) []*resource.Resource {
	var out []*resource.Resource
	for _, r := range stream {
		if (r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup) && slices.Contains(kinds, r.Kind()) {
			out = append(out, r)
		}
	}
	return out
}

func sortedKeys[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
