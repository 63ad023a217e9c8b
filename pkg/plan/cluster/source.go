package cluster

import (
	"encoding/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// ReadSource rebuilds the Kruise workload of a kind and name that a native one, its
// carrier, was rendered from: its spec is kept in an annotation, without the
// template, which is the carrier's (docs/drivers.md).
func ReadSource(carrier *tree.Node, kind, name string) (*Workload, error) {
	bare, err := ReadBareSource(carrier, kind, name)
	if err != nil {
		return nil, err
	}
	return bare.Whole()
}

// ReadBareSource is [ReadSource] without the Template ([ReadBare]).
func ReadBareSource(carrier *tree.Node, kind, name string) (*Workload, error) {
	var spec map[string]any
	annotation := tree.StrAt(carrier, "metadata", "annotations", kruise.StrategyAnnotation)
	if err := json.Unmarshal([]byte(annotation), &spec); err != nil {
		return nil, tree.Errorf(carrier, "metadata.annotations", "", "annotation %s holds no spec", kruise.StrategyAnnotation)
	}
	n := tree.FromValue(map[string]any{
		"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": tree.StrAt(carrier, "metadata", "namespace")},
		"spec":     spec,
	})
	if template := tree.Get(carrier, "spec", "template"); template != nil {
		tree.SetAt(n, template, "spec", "template")
	}
	return ReadBare(n)
}
