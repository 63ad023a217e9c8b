package ui

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/describe"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// mapping is how the cluster serves a kind.
func (l *Live) mapping(ref cluster.Ref) (*meta.RESTMapping, error) {
	mapper, err := kubectl.Getter(l.factory).ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return mapper.RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
}

// Manifest is [world.Source].
func (l *Live) Manifest(ctx context.Context, ref cluster.Ref) (string, error) {
	ref = l.served(ref)
	m, err := l.mapping(ref)
	if err != nil {
		return "", err
	}
	client, err := l.factory.Dynamic()
	if err != nil {
		return "", err
	}
	u, err := client.Resource(m.Resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	text, err := yaml.Marshal(describe.Hidden(u.Object))
	return string(text), err
}

// Describe is [world.Source].
func (l *Live) Describe(ctx context.Context, ref cluster.Ref) (string, error) {
	ref = l.served(ref)
	m, err := l.mapping(ref)
	if err != nil {
		return "", err
	}
	return describe.Object(ctx, l.factory, m, ref.Namespace, ref.Name)
}
