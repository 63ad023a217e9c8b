package observe

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// carrier finds the native object that stands for a Kruise workload where there is
// no Kruise: rendering has left a label with the kind and name of its source. nil
// means that there is none.
func (r *reader) carrier(name named.Name, namespace string) (*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, kind := range name.Kinds {
		if kind.Group != kruise.Group {
			continue
		}
		for _, plural := range []string{"replicasets", "deployments", "statefulsets", "daemonsets"} {
			q := query{
				what: plural, resource: gvr("apps", "v1", plural), namespace: namespace,
				selector: kruise.SourceLabel + "=" + kruise.SourceValue(kind.Kind, name.Name),
			}
			err := r.list(q, func(u *unstructured.Unstructured) error {
				if metav1.GetControllerOfNoCopy(u) == nil { // a Deployment's ReplicaSets have its labels
					found = append(found, u)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, nil //nolint:nilnil // that there is none is no error
	case 1:
		return found[0], nil
	}
	return nil, &resource.Error{Err: fmt.Errorf("%s was rendered into %d workloads: %s", name, len(found), texts(found)), Hint: "plan each of them by its own name"}
}

func texts(list []*unstructured.Unstructured) string {
	out := make([]string, len(list))
	for i, u := range list {
		out[i] = strings.ToLower(u.GetKind()) + "/" + u.GetName()
	}
	return strings.Join(out, ", ")
}
