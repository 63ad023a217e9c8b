package state

import (
	"encoding/json"
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Source rebuilds the Kruise workload that a native one was rendered from: its
// spec is kept in an annotation, without the template, which is the native one's.
func Source(carrier *resource.Resource, kind, name string) (*cluster.Workload, error) {
	var spec map[string]any
	if err := json.Unmarshal([]byte(carrier.Annotation(kruise.StrategyAnnotation)), &spec); err != nil {
		return nil, carrier.Wrap(errors.New("annotation "+kruise.StrategyAnnotation+" holds no spec"), "metadata.annotations")
	}
	n := tree.FromValue(map[string]any{
		"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kind,
		"metadata": map[string]any{"name": name, "namespace": carrier.Namespace()},
		"spec":     spec,
	})
	tree.SetAt(n, tree.Get(carrier.Node(), "spec", "template"), "spec", "template")
	w, err := cluster.ReadWorkload(n)
	return w, carrier.Wrap(err, "")
}
