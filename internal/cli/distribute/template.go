package distribute

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// own are annotations that belong to the original alone.
var own = []string{
	corev1.LastAppliedConfigAnnotation, kruise.ResourceDistributedByAnnotation, kruise.ResourceHashCodeAnnotation,
}

// bound are types of Secrets that mean nothing beside another object or place.
var bound = map[corev1.SecretType]string{
	corev1.SecretTypeServiceAccountToken: "its token is for one account of its namespace",
	corev1.SecretTypeBootstrapToken:      "it is looked for in kube-system alone",
}

// template is what copies are made from: the content, labels and annotations of the
// original, without what the cluster wrote. name is that of the copies, "" for the same.
func template(original *unstructured.Unstructured, name string) (*tree.Node, error) {
	n := tree.FromValue(original.Object)
	if why := bound[corev1.SecretType(tree.StrAt(n, "type"))]; why != "" {
		return nil, &resource.Error{Err: errors.New("a Secret of type " + tree.StrAt(n, "type") + " cannot be distributed"), Hint: why}
	}
	if name == "" {
		name = original.GetName()
	}
	meta := tree.Map("name", tree.String(name))
	for _, field := range []string{"labels", "annotations"} {
		if texts := tree.Get(n, "metadata", field); len(tree.Items(texts)) > 0 || tree.IsMap(texts) {
			tree.Set(meta, field, texts)
		}
	}
	for _, key := range own {
		tree.DeleteAt(meta, "annotations", key)
	}
	if a := tree.Get(meta, "annotations"); a != nil && len(a.Content) == 0 {
		tree.Delete(meta, "annotations")
	}
	out := tree.Map("apiVersion", "v1", "kind", original.GetKind(), "metadata", meta)
	for _, field := range []string{"data", "binaryData", "immutable", "type"} {
		if v := tree.Get(n, field); v != nil {
			tree.Set(out, field, v)
		}
	}
	return out, nil
}
