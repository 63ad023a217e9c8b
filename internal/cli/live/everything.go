package live

import "github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"

// everything lists the questions that any rendering may raise, in one namespace
// or ("") in all. Services and the pods of image pulls are left out: which of
// them matter depends on what is rendered.
func everything(namespace string, served map[string]string) []want {
	a := &asker{namespace: namespace, served: served}
	for _, w := range []want{
		{kind: namespaces, what: "namespaces"},
		{kind: nodes, what: "nodes"},
		{kind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName},
		{kind: revisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel},
		{kind: resourceDistributions, what: "ResourceDistributions"},
	} {
		a.ask(w)
	}
	for _, w := range append([]want{
		{kind: limitRanges, what: "limit ranges"},
		{kind: serviceAccounts, what: "service accounts"},
		{kind: autoscalers, what: "HorizontalPodAutoscalers", only: scalesKruise},
		{kind: scaledObjects, what: "ScaledObjects", only: scalesKruise},
		{kind: workloadSpreads, what: "WorkloadSpreads", selectable: true},
		{kind: podStates, what: "PersistentPodStates", selectable: true},
		{kind: renderedStates, what: "rendered states of pods", selector: kruise.SourceLabel, only: ofPodStates},
		{kind: budgets, what: "PodUnavailableBudgets", selectable: true},
	}, subsetWants()...) {
		w.namespace = namespace
		a.ask(w)
	}
	return a.list
}
