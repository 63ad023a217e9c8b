package observe

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/named"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Subsets names the workloads of a UnitedDeployment's subsets, in the order given. One
// that has none yet, or several, is an error.
func Subsets(ctx context.Context, c dynamic.Interface, u *united.Object) ([]named.Name, error) {
	var out []named.Name
	for _, subset := range u.Subsets {
		names, err := Owned(ctx, c, u.Kind, u.Namespace, kruise.SubsetNameLabel+"="+subset, u.UID)
		switch {
		case err != nil:
			return nil, err
		case len(names) != 1:
			return nil, &resource.Error{Err: fmt.Errorf("subset %s of UnitedDeployment %s has %d workloads", subset, u.Name, len(names)), Hint: "its controller says why: kubectl describe uniteddeployment " + u.Name}
		}
		out = append(out, names[0])
	}
	return out, nil
}

// RenderedFrom names the workloads that an object of Kruise was rendered into, where
// there is no Kruise, by kind and name.
func RenderedFrom(ctx context.Context, c dynamic.Interface, namespace, kind, name string) ([]named.Name, error) {
	var kinds []schema.GroupKind
	for _, native := range []string{kruise.KindDeployment, kruise.KindStatefulSet, kruise.KindDaemonSet, kruise.KindReplicaSet} {
		kinds = append(kinds, schema.GroupKind{Group: "apps", Kind: native})
	}
	kinds = append(kinds, schema.GroupKind{Group: kruise.Group, Kind: kruise.KindCloneSet}, schema.GroupKind{Group: kruise.Group, Kind: kruise.KindStatefulSet})
	return Select(ctx, c, kinds, namespace, kruise.SourceLabel+"="+kruise.SourceValue(kind, name))
}
