package live

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Checked are the objects of Kruise that a cluster holds, and what exists beside them.
type Checked struct {
	// Objects are those that people write: what a controller has made is among Context,
	// and so are those that a selector leaves out.
	Objects, Context []*resource.Resource
	// Skipped says in words what could not be read, and why.
	Skipped []string
	// Kruise is the release of the cluster, and how it is known.
	Kruise release.Found
}

// unchecked are kinds that controllers write, or that ask for something once.
var unchecked = []string{kruise.KindContainerRecreateRequest, kruise.KindEphemeralJob, kruise.KindNodeImage, kruise.KindNodePodProbe}

// Check reads the objects of Kruise in a namespace, or in all for "", with the kinds
// that have none only then: what they select may be anywhere.
func Check(ctx context.Context, c Cluster, namespace, selector string) (*Checked, error) {
	chosen, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	server, err := c.server(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{cluster: c}
	if err := r.ask(ctx, checked(namespace, server.addOns())); err != nil {
		return nil, err
	}
	all := r.result()
	out := &Checked{Skipped: all.Skipped, Kruise: server.kruise}
	for _, o := range all.Context {
		if ours(o) && chosen.Matches(labels.Set(tree.Strings(tree.Get(o.Node(), "metadata", "labels")))) {
			out.Objects = append(out.Objects, resource.Parsed(o.Node(), nil, resource.Origin{Seq: len(out.Objects)}))
		} else {
			out.Context = append(out.Context, o)
		}
	}
	return out, nil
}

// ours reports an object of Kruise that nobody controls.
func ours(r *resource.Resource) bool {
	return (r.Group() == kruise.Group || r.Group() == kruise.PolicyGroup) && !slices.Contains(unchecked, r.Kind()) &&
		!slices.ContainsFunc(tree.Items(tree.Get(r.Node(), "metadata", "ownerReferences")), func(o *tree.Node) bool {
			return tree.Bool(tree.Get(o, "controller"))
		})
}

// checked are the questions: the objects themselves as a whole, and of the workloads of
// others no more than whom they select and how many they are.
func checked(namespace string, served map[string]string) []want {
	a := &asker{namespace: namespace, served: served}
	for _, k := range kruise.Kinds() {
		if slices.Contains(unchecked, k.Kind) || k.ClusterScoped && namespace != "" {
			continue
		}
		plural := strings.ToLower(k.Kind) + "s"
		a.ask(want{what: plural, namespace: namespace, optional: true, kind: &kind{group: k.Group, name: k.Kind, resource: plural, keep: []string{
			metaLabels, "metadata annotations", "metadata ownerReferences", "spec", "status",
		}}})
	}
	for _, k := range []*kind{
		templates("apps", kruise.KindDeployment, "deployments"), templates("apps", kruise.KindStatefulSet, "statefulsets"),
		templates("apps", kruise.KindDaemonSet, "daemonsets"), templates("batch", "CronJob", "cronjobs"),
		{group: "policy", version: "v1", name: "PodDisruptionBudget", resource: "poddisruptionbudgets", keep: []string{"spec selector"}},
	} {
		a.ask(want{kind: k, what: k.resource, namespace: namespace})
	}
	a.ask(want{kind: templates("apps", kruise.KindReplicaSet, "replicasets"), what: "replicasets", namespace: namespace, selector: "!pod-template-hash"})
	a.ask(want{kind: namespaces, what: "namespaces"})
	a.ask(want{kind: configuration, what: "Kruise's configuration", namespace: kruise.DefaultNamespace, fields: "metadata.name=" + kruise.ConfigurationName})
	if namespace == "" {
		a.ask(want{kind: revisions, what: "stored SidecarSet revisions", namespace: kruise.DefaultNamespace, selector: kruise.SidecarSetNameLabel})
	}
	return a.list
}

// templates keeps the labels of a workload's pods, and what selects and counts them.
func templates(group, name, resource string) *kind {
	return &kind{group: group, version: "v1", name: name, resource: resource, keep: []string{
		metaLabels, "metadata ownerReferences", "spec replicas", "spec selector", "spec template metadata labels",
		"spec jobTemplate spec template metadata labels",
	}}
}

// Selected reads the pods that the selectors of some objects find, with their labels
// alone: whoever has made them, they are there.
func Selected(ctx context.Context, c Cluster, objects []*resource.Resource) ([]*resource.Resource, error) {
	r := &reader{cluster: c}
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
		w := want{kind: pods, what: "pods for " + o.ID().String(), namespace: o.Namespace(), selector: selector.String()}
		if err := r.list(ctx, w); err != nil {
			return nil, err
		}
	}
	return r.result().Context, nil
}
