package united

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

var (
	revisionsResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}
	podsResource      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Revision is a template that the controller keeps, see
// docs/kruise/distribution.md#what-a-subsets-workload-looks-like.
type Revision struct {
	Name   string
	Number int64
	// Template is spec.template of the UnitedDeployment.
	Template map[string]any
}

// Revisions are those that a UnitedDeployment controls, the oldest first.
func (o *Object) Revisions(ctx context.Context, c dynamic.Interface) ([]Revision, error) {
	list, err := c.Resource(revisionsResource).Namespace(o.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []Revision
	for i := range list.Items {
		u := &list.Items[i]
		if owner := metav1.GetControllerOfNoCopy(u); owner == nil || string(owner.UID) != o.UID {
			continue
		}
		r := Revision{Name: u.GetName()}
		r.Number, _, _ = unstructured.NestedInt64(u.Object, "revision")
		r.Template, _, _ = unstructured.NestedMap(u.Object, "data", "spec", "template")
		delete(r.Template, "$patch") // the revision is a patch that replaces it
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Revision) int { return cmp.Compare(a.Number, b.Number) })
	return out, nil
}

// Present is the revision of the present template.
func (o *Object) Present(list []Revision) (Revision, bool) {
	for _, r := range slices.Backward(list) {
		if SameTemplate(r.Template, o.Template) {
			return r, true
		}
	}
	return Revision{}, false
}

// pods counts the pods of each of the revisions, by name: the controller labels the pods of all
// subsets with it.
func (o *Object) pods(ctx context.Context, c dynamic.Interface, of []Revision) (map[string]int, error) {
	list, err := c.Resource(podsResource).Namespace(o.Namespace).List(ctx, metav1.ListOptions{LabelSelector: kruise.SubsetNameLabel})
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for i := range list.Items {
		p := &list.Items[i]
		name := p.GetLabels()[kruise.ControllerRevisionHashLabel]
		if p.GetDeletionTimestamp() == nil && slices.ContainsFunc(of, func(r Revision) bool { return r.Name == name }) {
			out[name]++
		}
	}
	return out, nil
}

// SameTemplate reports whether two templates of a UnitedDeployment mean the same to pods:
// whatever decoded their numbers, and with what the API server and Kruise's webhooks fill in.
func SameTemplate(a, b map[string]any) bool {
	return tree.Same(a, b) || tree.Same(storedTemplate(a), storedTemplate(b))
}

// storedTemplate is a template with the defaults of the workload that a subset has; one of another
// form than that of the newest version stays as it is.
func storedTemplate(template map[string]any) any {
	var u kruise.UnitedDeployment
	unknown, err := kruise.Decode(tree.FromValue(map[string]any{
		"apiVersion": kruise.Group + "/" + kruise.V1beta1, "kind": kruise.KindUnitedDeployment, "spec": map[string]any{"template": template},
	}), &u)
	if err != nil || len(unknown) > 0 {
		return template
	}
	kruise.DefaultStored(&u)
	out := map[string]any{}
	for _, workload := range workloadsOf(&u.Spec.Template) {
		kruise.DefaultStored(workload)
		if out[fmt.Sprintf("%T", workload)], err = tree.Plain(workload); err != nil {
			return template
		}
	}
	return out
}

// workloadsOf are workloads as the template has them: one, where it is valid.
func workloadsOf(t *kruise.SubsetTemplate) []any {
	var out []any
	if w := t.CloneSetTemplate; w != nil {
		out = append(out, &kruise.CloneSet{ObjectMeta: w.ObjectMeta, Spec: w.Spec})
	}
	if w := t.AdvancedStatefulSetTemplate; w != nil {
		out = append(out, &kruise.StatefulSet{ObjectMeta: w.ObjectMeta, Spec: w.Spec})
	}
	if w := t.StatefulSetTemplate; w != nil {
		out = append(out, &appsv1.StatefulSet{ObjectMeta: w.ObjectMeta, Spec: w.Spec})
	}
	if w := t.DeploymentTemplate; w != nil {
		out = append(out, &appsv1.Deployment{ObjectMeta: w.ObjectMeta, Spec: w.Spec})
	}
	return out
}
