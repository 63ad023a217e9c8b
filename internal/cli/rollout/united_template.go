package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// remake is what a verb makes of the template of a UnitedDeployment.
type remake func(context.Context, *united.Object) (map[string]any, error)

// inTemplate makes something of the workload in the template of a UnitedDeployment.
func inTemplate(of func(*resource.Resource) (*resource.Resource, error)) remake {
	return func(_ context.Context, u *united.Object) (map[string]any, error) {
		template := tree.FromValue(u.Template)
		workload := tree.Clone(tree.Get(template, u.TemplateField))
		tree.Set(workload, "apiVersion", tree.String(u.Kind.Group+"/v1"))
		tree.Set(workload, "kind", tree.String(u.Kind.Kind))
		made, err := of(resource.Parsed(workload, nil, resource.Origin{File: clusterread.File}))
		if err != nil {
			return nil, err
		}
		n := tree.Clone(made.Node())
		tree.Delete(n, "apiVersion")
		tree.Delete(n, "kind")
		tree.Set(template, u.TemplateField, n)
		value, _ := tree.Value(template).(map[string]any)
		return value, nil
	}
}

// olderTemplate is the template of an older revision, which a UnitedDeployment keeps
// itself (docs/kruise/distribution.md#which-allocator): of that number, or the newest that is not
// the present one.
func (c *common) olderTemplate(number int64) remake {
	return func(ctx context.Context, u *united.Object) (map[string]any, error) {
		list, err := c.unitedRevisions(ctx, u)
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(list) {
			template := templateOf(r)
			if r.Revision == number || number == 0 && template != nil && !reflect.DeepEqual(template, u.Template) {
				return template, nil
			}
		}
		what := "no older revision"
		if number > 0 {
			what = fmt.Sprintf("no revision %d", number)
		}
		return nil, &resource.Error{
			Err:  fmt.Errorf("uniteddeployment/%s has %s", u.Name, what),
			Hint: "'kubectl get controllerrevisions' lists those there are; or give the images: 'rollout run uniteddeployment/" + u.Name + " --image …'",
		}
	}
}

// unitedRevisions are those that a UnitedDeployment controls, the oldest first.
func (c *common) unitedRevisions(ctx context.Context, u *united.Object) ([]*appsv1.ControllerRevision, error) {
	cfg, err := c.factory.Config()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	list, err := client.AppsV1().ControllerRevisions(u.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []*appsv1.ControllerRevision
	for i := range list.Items {
		if owner := metav1.GetControllerOf(&list.Items[i]); owner != nil && string(owner.UID) == u.UID {
			out = append(out, &list.Items[i])
		}
	}
	slices.SortFunc(out, func(a, b *appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	return out, nil
}

// templateOf is the template that a revision holds: a patch of spec.template that
// replaces it.
func templateOf(r *appsv1.ControllerRevision) map[string]any {
	var data struct {
		Spec struct {
			Template map[string]any `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
		return nil
	}
	delete(data.Spec.Template, "$patch")
	return data.Spec.Template
}
