package clusterread

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cli "k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic"

	calls "github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/kubectl"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ReadPlacement finds the object that the arguments name, and where its pods are.
func ReadPlacement(ctx context.Context, f *factory.Factory, args ...string) (*diagnose.Placement, error) {
	namespace, err := f.NamespaceOrDefault()
	if err != nil {
		return nil, err
	}
	infos, err := cli.NewBuilder(kubectl.Getter(f)).Unstructured().
		NamespaceParam(namespace).DefaultNamespace().ResourceTypeOrNameArgs(false, args...).Flatten().Do().Infos()
	switch {
	case err != nil:
		return nil, err
	case len(infos) != 1:
		return nil, calls.Usagef("name one, such as workloadspread/web", "expected one object, got %d", len(infos))
	}
	r := spreadReader{namespace: namespace}
	if r.client, err = f.Dynamic(); err != nil {
		return nil, err
	}
	if r.mapper, err = f.Flags.ToRESTMapper(); err != nil {
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
func (r spreadReader) spreadOf(ctx context.Context, target *unstructured.Unstructured) (*diagnose.Placement, error) {
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
	return nil, &resource.Error{Err: fmt.Errorf("no WorkloadSpread in namespace %s has %s for its target", r.namespace, name), Hint: fmt.Sprintf("see 'kubectl get workloadspreads -n %s'", r.namespace)}
}

// spread reads the target, unless it is there, and its pods.
func (r spreadReader) spread(ctx context.Context, u, target *unstructured.Unstructured) (*diagnose.Placement, error) {
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
	return diagnose.Spread(&ws, tree.FromValue(target.Object), pods)
}

// united reads the workloads of the subsets, and their pods.
func (r spreadReader) united(ctx context.Context, u *unstructured.Unstructured) (*diagnose.Placement, error) {
	var ud kruise.UnitedDeployment
	if _, err := kruise.Decode(tree.FromValue(u.Object), &ud); err != nil {
		return nil, err
	}
	list, err := r.list(ctx, subsetWorkloadKind(&ud), kruise.SubsetNameLabel)
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
	return diagnose.United(&ud, workloads, pods)
}

// subsetWorkloadKind is what the subsets are made of.
func subsetWorkloadKind(ud *kruise.UnitedDeployment) schema.GroupKind {
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

// spreadReader reads objects of one namespace.
type spreadReader struct {
	client    dynamic.Interface
	mapper    meta.RESTMapper
	namespace string
}

// get reads an object of any kind that the server knows: the target of a WorkloadSpread can be
// of a kind that this program does not.
func (r spreadReader) get(ctx context.Context, kind schema.GroupKind, name string) (*unstructured.Unstructured, error) {
	m, err := r.mapper.RESTMapping(kind)
	if err != nil {
		return nil, err
	}
	return r.client.Resource(m.Resource).Namespace(r.namespace).Get(ctx, name, metav1.GetOptions{})
}

// list reads all objects of a kind that a selector matches.
func (r spreadReader) list(ctx context.Context, kind schema.GroupKind, selector string) ([]unstructured.Unstructured, error) {
	m, err := r.mapper.RESTMapping(kind)
	if err != nil {
		return nil, err
	}
	return List(ctx, r.client, m.Resource, r.namespace, selector)
}

// pods are those that the workload's selector matches.
func (r spreadReader) pods(ctx context.Context, of *unstructured.Unstructured) ([]*cluster.Pod, error) {
	var asked metav1.LabelSelector
	fields, _, _ := unstructured.NestedMap(of.Object, "spec", "selector")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &asked); err != nil {
		return nil, fmt.Errorf("the selector of %s cannot be read: %w", of.GetName(), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&asked)
	if err != nil || selector.Empty() {
		return nil, err // nothing is selected, as text that would be everything
	}
	list, err := r.list(ctx, schema.GroupKind{Kind: "Pod"}, selector.String())
	if err != nil {
		return nil, err
	}
	var out []*cluster.Pod
	for i := range list {
		var p corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list[i].Object, &p); err != nil {
			return nil, fmt.Errorf("pod %s cannot be read: %w", list[i].GetName(), err)
		}
		out = append(out, cluster.ReadPod(&p))
	}
	return out, nil
}
