package standin

import (
	"encoding/json"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// readings keeps each workload as it was read last, since many ask for it.
type readings struct {
	mu   sync.Mutex
	last map[types.UID]reading
}

type reading struct {
	version  string
	workload *cluster.Workload
}

func newReadings() *readings { return &readings{last: map[types.UID]reading{}} }

// workload reads an object of any kind that has pods to roll out.
func (r *readings) workload(o *unstructured.Unstructured) (*cluster.Workload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have, ok := r.last[o.GetUID()]; ok && have.version == o.GetResourceVersion() {
		return have.workload, nil
	}
	w, err := cluster.ReadWorkload(nodeOf(o.Object))
	if err != nil {
		return nil, err
	}
	r.last[o.GetUID()] = reading{o.GetResourceVersion(), w}
	return w, nil
}

// nodeOf is an object as a tree.
func nodeOf(object map[string]any) *tree.Node { return tree.FromValue(object) }

// normal is an object whose values are those of JSON.
func normal(v any) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &out.Object); err != nil {
		return nil, err
	}
	return out, nil
}

// generic is a typed object, whose kind the caches leave out, as the API has it.
func generic(o any, apiVersion, kind string) (*unstructured.Unstructured, error) {
	out, err := normal(o)
	if err != nil {
		return nil, err
	}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	return out, nil
}

// rendering is what a stage of rendering is told when a controller has it do its
// work: the cluster is what is around, and the one object is expanded.
func rendering(stream, around []*resource.Resource, namespace string) *stage.Context {
	return stage.New(resource.NewFacts(stream, around, namespace), stage.Options{Expand: stage.ExpandAll, Workers: 1})
}
