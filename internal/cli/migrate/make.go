package migrate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// made is the new workload before it is created.
type made struct {
	object   *unstructured.Unstructured
	findings []finding.Finding
}

// counterpart makes the new workload of the old one: what convert makes of it, under
// its own name, with a selector that no pod of the old one matches, and so many
// replicas.
func counterpart(source *unstructured.Unstructured, to *migrate.Kind, version, name string, replicas int32, takes kruise.Release) (*made, error) {
	m, err := become(source, to, version, takes)
	if err != nil {
		return nil, err
	}
	m.object.SetName(name)
	if err := apart(m.object, kruise.SourceValue(to.Word, name)); err != nil {
		return nil, err
	}
	return m, unstructured.SetNestedField(m.object.Object, int64(replicas), "spec", "replicas")
}

// become is what convert makes of a workload, without what belongs to the old one
// alone, and without what the release of Kruise does not have, which is a finding.
func become(source *unstructured.Unstructured, to *migrate.Kind, version string, takes kruise.Release) (*made, error) {
	targets, err := convert.ParseTargets([]string{to.Word})
	if err != nil {
		return nil, err
	}
	in := resource.Parsed(tree.FromValue(source.Object), nil, resource.Origin{File: "(cluster)"})
	res, err := convert.ToKinds([]*resource.Resource{in}, convert.Options{Targets: targets, Namespace: source.GetNamespace()})
	if err != nil {
		return nil, err
	}
	if len(res.Resources) != 1 || res.Converted != 1 {
		return nil, fmt.Errorf("%s/%s becomes no %s", source.GetKind(), source.GetName(), to.Word)
	}
	if !takes.Serves(to.Group, to.Kind, version) {
		takes = kruise.Release{} // the cluster serves it, whatever release it is
	}
	written, err := convert.ForRelease(res.Resources, convert.Writing{Version: version, Release: takes, Made: func(*resource.Resource) bool { return true }})
	if err != nil {
		return nil, err
	}
	for _, l := range written.Lost {
		res.Findings = append(res.Findings, l.Finding())
	}
	object, _ := tree.Value(res.Resources[0].Node()).(map[string]any)
	u := &unstructured.Unstructured{Object: object}
	u.SetNamespace(source.GetNamespace())
	u.SetFinalizers(nil) // they would wait for whoever looks after the old one
	return &made{u, res.Findings}, nil
}

// apart writes the label that tells pods of both sides from each other.
func apart(u *unstructured.Unstructured, value string) error {
	for _, path := range [][]string{{"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"}} {
		if err := unstructured.SetNestedField(u.Object, value, append(path, kruise.WorkloadLabel)...); err != nil {
			return fmt.Errorf("%s/%s: %w", u.GetKind(), u.GetName(), err)
		}
	}
	return nil
}
