package check

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

var _ = add("apps.kruise.io/ResourceDistribution", resourceDistribution)

// resourceDistribution holds the webhook's rules (semantics fanout-and-jobs 3).
// Its dry-run creation of the resource is replaced by the API server's rules
// for ConfigMaps and Secrets; quotas and other admission cannot be foreseen.
func resourceDistribution(c *stage.Context, r *resource.Resource) error {
	var rd kruise.ResourceDistribution
	unknown, err := kruise.Decode(r.Node(), &rd)
	if err != nil {
		return r.Wrap(err, "")
	}
	var errs resource.Errors
	for _, field := range unknown {
		errs.Add(r.Fault(field, spelling(rd, field), "unknown field"))
	}
	if msgs := apivalidation.NameIsDNSSubdomain(r.Name(), false); len(msgs) > 0 {
		errs.Add(r.Fault("metadata.name", "", "%s", strings.Join(msgs, "; ")))
	}
	errs.Add(distributionTargets(r, rd.Spec.Targets))
	errs.Add(distributedResource(r))
	errs.Add(sameResource(c, r))
	return errs.Err()
}

func distributionTargets(r *resource.Resource, t kruise.ResourceDistributionTargets) error {
	targets := tree.Get(r.Node(), "spec", "targets")
	if targets == nil {
		return r.Fault("spec.targets", "targets: {} is legal and distributes nowhere", "required")
	}
	var errs resource.Errors
	excluded := map[string]bool{}
	for _, ns := range t.ExcludedNamespaces.List {
		excluded[ns.Name] = true
	}
	for i, ns := range t.IncludedNamespaces.List {
		if excluded[ns.Name] {
			errs.Add(r.Fault(fmt.Sprintf("spec.targets.includedNamespaces.list[%d]", i), "remove it from one of the two",
				"namespace %s is in both includedNamespaces and excludedNamespaces", ns.Name))
		}
	}
	if _, err := metav1.LabelSelectorAsSelector(&t.NamespaceSelector); err != nil {
		field := "spec.targets.namespaceSelector"
		if tree.Has(targets, "namespaceLabelSelector") {
			field = "spec.targets.namespaceLabelSelector"
		}
		errs.Add(r.Fault(field, "", "%v", err))
	}
	return errs.Err()
}

// distributedResource checks spec.resource: what it is, and that the API server
// would create it.
func distributedResource(r *resource.Resource) error {
	const at = "spec.resource"
	n := tree.Get(r.Node(), "spec", "resource")
	if !tree.IsMap(n) {
		return r.Fault(at, "give the Secret or ConfigMap to distribute, as it would be applied", "required")
	}
	version, kind := tree.StrAt(n, "apiVersion"), tree.StrAt(n, "kind")
	if version != "v1" || kind != "Secret" && kind != "ConfigMap" {
		return r.Fault(at, "write apiVersion: v1 and kind: Secret or ConfigMap", "only a Secret or ConfigMap can be distributed, not %s %s", version, kind)
	}
	if tree.StrAt(n, "metadata", "name") == "" {
		return r.Fault(at+".metadata.name", "", "required")
	}
	var errs resource.Errors
	for _, err := range objectFaults(n) {
		errs.Add(r.Wrap(err, at))
	}
	return errs.Err()
}

// sameResource refuses to rename what the ResourceDistribution in the cluster
// distributes.
func sameResource(c *stage.Context, r *resource.Resource) error {
	for _, live := range c.Facts.Context(kruise.Group, "ResourceDistribution") {
		if live.Name() != r.Name() {
			continue
		}
		for _, field := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
			path := append([]string{"spec", "resource"}, field...)
			if was, is := tree.StrAt(live.Node(), path...), tree.StrAt(r.Node(), path...); was != is {
				return r.Fault(strings.Join(path, "."), "distribute the new resource with a new ResourceDistribution",
					"the resource's apiVersion, kind and name are immutable: the cluster has %q", was)
			}
		}
	}
	return nil
}

// objectMeta checks the metadata of an object that is to be created.
func objectMeta(n *tree.Node) (faults []*tree.Error) {
	var meta metav1.ObjectMeta
	if _, err := tree.Decode(tree.Get(n, "metadata"), &meta); err != nil {
		return []*tree.Error{under("metadata", err)}
	}
	meta.Namespace = metav1.NamespaceDefault
	for _, e := range apivalidation.ValidateObjectMeta(&meta, true, apivalidation.NameIsDNSSubdomain, nil) {
		faults = append(faults, tree.Errorf(n, "metadata."+e.Field, "", "%s", e.ErrorBody()))
	}
	return faults
}

// under moves the place of a decoding error below field.
func under(field string, err error) *tree.Error {
	if te, ok := err.(*tree.Error); ok { //nolint:errorlint // tree.Decode returns it bare
		moved := *te
		moved.Path = strings.TrimSuffix(field+"."+te.Path, ".")
		return &moved
	}
	return &tree.Error{Path: field, Msg: err.Error()}
}

// dataKey checks the name of one entry of a ConfigMap or Secret.
func dataKey(key string) string { return strings.Join(validation.IsConfigMapKey(key), "; ") }
