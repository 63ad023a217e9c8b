package standin

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// workload reads an object of any kind that has pods to roll out.
func (s *store) workload(o *unstructured.Unstructured) (*cluster.Workload, error) {
	return s.read.of(o, func() (*cluster.Workload, error) { return cluster.ReadWorkload(nodeOf(o.Object)) })
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
