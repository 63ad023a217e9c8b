package spread

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cli "k8s.io/cli-runtime/pkg/resource"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/places"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// read finds the object that the arguments name and makes its placement.
func (o *options) read(ctx context.Context, args []string) (*places.Placement, error) {
	namespace, err := o.factory.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	infos, err := cli.NewBuilder(kubectl.Getter(o.factory)).Unstructured().
		NamespaceParam(namespace).DefaultNamespace().ResourceTypeOrNameArgs(false, args...).Flatten().Do().Infos()
	switch {
	case err != nil:
		return nil, err
	case len(infos) != 1:
		return nil, command.Usagef("name one, such as workloadspread/web", "one object is wanted, not %d", len(infos))
	}
	r := reader{namespace: namespace}
	if r.client, err = o.factory.Dynamic(); err != nil {
		return nil, err
	}
	if r.mapper, err = o.factory.Flags.ToRESTMapper(); err != nil {
		return nil, err
	}
	u := infos[0].Object.(*unstructured.Unstructured)
	switch u.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: kruise.Group, Kind: kruise.KindUnitedDeployment}:
		return r.united(ctx, u)
	case schema.GroupKind{Group: kruise.Group, Kind: kruise.KindWorkloadSpread}:
		return r.spread(ctx, u, nil)
	}
	return r.spreadOf(ctx, u)
}

// spreadOf finds the WorkloadSpread that spreads a workload.
func (r reader) spreadOf(ctx context.Context, target *unstructured.Unstructured) (*places.Placement, error) {
	spreads, err := r.list(ctx, schema.GroupKind{Group: kruise.Group, Kind: kruise.KindWorkloadSpread}, "")
	if err != nil {
		return nil, err
	}
	for i := range spreads {
		ref := tree.Get(tree.FromValue(spreads[i].Object), "spec", "targetRef")
		if tree.StrAt(ref, "kind") == target.GetKind() && tree.StrAt(ref, "name") == target.GetName() &&
			resource.GroupOf(tree.StrAt(ref, "apiVersion")) == target.GroupVersionKind().Group {
			return r.spread(ctx, &spreads[i], target)
		}
	}
	name := strings.ToLower(target.GetKind()) + "/" + target.GetName()
	return nil, &resource.Error{Err: fmt.Errorf("no WorkloadSpread in namespace %s has %s for its target", r.namespace, name), Hint: "see 'kubectl get workloadspreads'"}
}

// spread reads the target, unless it is there, and its pods.
func (r reader) spread(ctx context.Context, u, target *unstructured.Unstructured) (*places.Placement, error) {
	var ws kruise.WorkloadSpread
	if _, err := kruise.Decode(tree.FromValue(u.Object), &ws); err != nil {
		return nil, err
	}
	ref := ws.Spec.TargetReference
	if ref == nil {
		return nil, errors.New("the WorkloadSpread has no target")
	}
	if target == nil {
		var err error
		gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
		if target, err = r.get(ctx, gvk.GroupKind(), ref.Name); err != nil {
			return nil, &resource.Error{Err: fmt.Errorf("cannot read the target %s/%s: %w", strings.ToLower(ref.Kind), ref.Name, err), Hint: "see spec.targetRef of the WorkloadSpread"}
		}
	}
	pods, err := r.pods(ctx, target)
	if err != nil {
		return nil, err
	}
	return places.Spread(&ws, tree.FromValue(target.Object), pods)
}

// united reads the workloads of the subsets, and their pods.
func (r reader) united(ctx context.Context, u *unstructured.Unstructured) (*places.Placement, error) {
	var ud kruise.UnitedDeployment
	if _, err := kruise.Decode(tree.FromValue(u.Object), &ud); err != nil {
		return nil, err
	}
	list, err := r.list(ctx, workloadKind(&ud), kruise.SubsetNameLabel)
	if err != nil {
		return nil, err
	}
	var workloads []*tree.Node
	for i := range list {
		if metav1.IsControlledBy(&list[i], u) {
			workloads = append(workloads, tree.FromValue(list[i].Object))
		}
	}
	pods, err := r.pods(ctx, u)
	if err != nil {
		return nil, err
	}
	return places.United(&ud, workloads, pods)
}

// workloadKind is what the subsets are made of.
func workloadKind(ud *kruise.UnitedDeployment) schema.GroupKind {
	switch t := ud.Spec.Template; {
	case t.CloneSetTemplate != nil:
		return schema.GroupKind{Group: kruise.Group, Kind: kruise.KindCloneSet}
	case t.AdvancedStatefulSetTemplate != nil:
		return schema.GroupKind{Group: kruise.Group, Kind: kruise.KindStatefulSet}
	case t.StatefulSetTemplate != nil:
		return schema.GroupKind{Group: "apps", Kind: kruise.KindStatefulSet}
	}
	return schema.GroupKind{Group: "apps", Kind: kruise.KindDeployment}
}
