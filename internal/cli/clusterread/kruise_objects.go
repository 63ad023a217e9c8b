package clusterread

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/installation"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// KruiseObjects are the objects of Kruise that a cluster holds, and what exists beside them.
type KruiseObjects struct {
	// Objects are those that people write: what a controller has created is among Context,
	// and so are those that a selector leaves out.
	Objects, Context []*resource.Resource
	// Skipped says in words what could not be read, and why.
	Skipped []string
	// Kruise is the release of the cluster, and how it is known.
	Kruise installation.Found
}

// uncheckedKinds are kinds that controllers write, or that ask for something once.
var uncheckedKinds = []string{kruise.KindContainerRecreateRequest, kruise.KindEphemeralJob, kruise.KindNodeImage, kruise.KindNodePodProbe}

// ReadKruiseObjects reads the objects of Kruise in a namespace, or in all for "", with the kinds
// that have none only then: what they select may be anywhere.
func ReadKruiseObjects(ctx context.Context, c Cluster, namespace, selector string) (*KruiseObjects, error) {
	chosen, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	server, err := c.server(ctx)
	if err != nil {
		return nil, err
	}
	r := &factReader{lister: lister{client: c.Objects}}
	if err := r.ask(ctx, checkedQuestions(namespace, server.addOns())); err != nil {
		return nil, err
	}
	all := r.result()
	out := &KruiseObjects{Skipped: all.Skipped, Kruise: server.kruise}
	for _, o := range all.Context {
		if isUncontrolledKruise(o) && chosen.Matches(labels.Set(tree.Strings(tree.Get(o.Node(), "metadata", "labels")))) {
			out.Objects = append(out.Objects, resource.Parsed(o.Node(), nil, resource.Origin{Seq: len(out.Objects)}))
		} else {
			out.Context = append(out.Context, o)
		}
	}
	return out, nil
}

// isUncontrolledKruise reports an object of Kruise without a controlling owner.
func isUncontrolledKruise(r *resource.Resource) bool {
	return (r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup) && !slices.Contains(uncheckedKinds, r.Kind()) &&
		!slices.ContainsFunc(tree.Items(tree.Get(r.Node(), "metadata", "ownerReferences")), func(o *tree.Node) bool {
			return tree.Bool(tree.Get(o, "controller"))
		})
}

// checkedQuestions are the questions: the objects themselves as a whole, and of the workloads of
// others no more than whom they select and how many they are.
func checkedQuestions(namespace string, served map[string]string) []factQuery {
	a := &factQuestions{namespace: namespace, served: served}
	for _, k := range kruise.Kinds() {
		if slices.Contains(uncheckedKinds, k.Kind) || k.ClusterScoped && namespace != "" {
			continue
		}
		plural := strings.ToLower(k.Kind) + "s"
		a.ask(factQuery{what: plural, namespace: namespace, optional: true, factKind: &factKind{group: k.Group, name: k.Kind, resource: plural, mask: "whole"}})
	}
	for _, k := range []*factKind{
		templateFacts("apps", kruise.KindDeployment, "deployments"), templateFacts("apps", kruise.KindStatefulSet, "statefulsets"),
		templateFacts("apps", kruise.KindDaemonSet, "daemonsets"), templateFacts("batch", "CronJob", "cronjobs"),
		{group: "policy", version: "v1", name: "PodDisruptionBudget", resource: "poddisruptionbudgets", mask: "disruption budgets"},
	} {
		a.ask(factQuery{factKind: k, what: k.resource, namespace: namespace})
	}
	a.ask(factQuery{factKind: templateFacts("apps", kruise.KindReplicaSet, "replicasets"), what: "replicasets", namespace: namespace, selector: "!pod-template-hash"})
	a.ask(factQuery{factKind: namespaces, what: "namespaces"})
	a.ask(factQuery{factKind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName})
	if namespace == "" {
		a.ask(factQuery{factKind: sidecarRevisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel})
	}
	return a.list
}

// templateFacts keeps the labels of a workload's pods, and what selects and counts them.
func templateFacts(group, name, resource string) *factKind {
	return &factKind{group: group, version: "v1", name: name, resource: resource, mask: "templates"}
}

// ReadSelectedPods reads the pods that the selectors of some objects find, with their labels
// alone: it does not matter who made them.
func ReadSelectedPods(ctx context.Context, c Cluster, objects []*resource.Resource) ([]*resource.Resource, error) {
	r := &factReader{lister: lister{client: c.Objects}}
	for _, o := range objects {
		var chosen metav1.LabelSelector
		n := tree.Get(o.Node(), "spec", "selector")
		if _, err := tree.Decode(n, &chosen); n == nil || err != nil {
			continue // a fault that the check reports
		}
		selector, err := metav1.LabelSelectorAsSelector(&chosen)
		if err != nil {
			continue // as above
		}
		w := factQuery{factKind: podFacts, what: "pods for " + o.ID().String(), namespace: o.Namespace(), selector: selector.String()}
		if err := r.list(ctx, w); err != nil {
			return nil, err
		}
	}
	return r.result().Context, nil
}
