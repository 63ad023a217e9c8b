package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/clusterread"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/united"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// runUnited rolls out the subsets of a UnitedDeployment, see [execute.Subsets].
func (o *runOptions) runUnited(ctx context.Context, name string) error {
	if o.into != "" || o.discardRecord {
		return command.Usagef("name the workload of one subset", "--write-back and --discard-record are not for a UnitedDeployment")
	}
	namespace, err := o.Client.Factory.NamespaceOrDefault()
	if err != nil {
		return err
	}
	s, err := o.Subsets(ctx, namespace, name, o.Maker)
	if apierrors.IsNotFound(err) {
		return o.runRendered(ctx, name)
	}
	if err != nil {
		return err
	}
	template, err := o.newTemplate(ctx, s.Object)
	if err != nil {
		return err
	}
	if err := s.ToTemplate(ctx, template, o.back); err != nil {
		return err
	}
	r, err := s.Rolling(ctx, s.Object.Template)
	if err != nil {
		return err
	}
	return o.carry(ctx, r)
}

// runRendered rolls out what a UnitedDeployment was rendered into, where there is no
// Kruise: each workload by itself, in the order of their names.
func (o *runOptions) runRendered(ctx context.Context, name string) error {
	names, err := o.SubsetNames(ctx, name)
	switch {
	case err != nil:
		return err
	case o.as == nil && !o.Images():
		return &resource.Error{Err: errors.New("nothing to roll out"), Hint: "give --image CONTAINER=IMAGE"}
	}
	return o.rollOut(ctx, o.eachOf(names))
}

// newTemplate is what the verb makes of the template of a UnitedDeployment; nil leaves it as it is.
func (o *runOptions) newTemplate(ctx context.Context, u *united.Object) (map[string]any, error) {
	switch {
	case o.as == nil && !o.Images():
		return nil, nil //nolint:nilnil // that the template stays is no error
	case o.as != nil && o.as.back != nil:
		client, err := o.Client.Factory.Dynamic()
		if err != nil {
			return nil, err
		}
		return olderTemplate(ctx, client, u, o.as.back.number)
	}
	template := tree.FromValue(u.Template)
	workload := tree.Clone(tree.Get(template, u.TemplateField))
	tree.Set(workload, "apiVersion", tree.String(u.Kind.Group+"/v1"))
	tree.Set(workload, "kind", tree.String(u.Kind.Kind))
	made := resource.Parsed(workload, nil, resource.Origin{File: clusterread.File})
	if o.as != nil {
		made = restarted(made, time.Now())
	} else {
		var err error
		if made, err = o.SetImages(made); err != nil {
			return nil, err
		}
	}
	n := tree.Clone(made.Node())
	tree.Delete(n, "apiVersion")
	tree.Delete(n, "kind")
	tree.Set(template, u.TemplateField, n)
	value, _ := tree.Value(template).(map[string]any)
	return value, nil
}

// olderTemplate is the template of an older revision, which a UnitedDeployment keeps
// itself (docs/kruise/distribution.md#which-allocator): of that number, or the newest that is not
// the present one.
func olderTemplate(ctx context.Context, client dynamic.Interface, u *united.Object, number int64) (map[string]any, error) {
	list, err := u.Revisions(ctx, client)
	if err != nil {
		return nil, err
	}
	present, _ := u.Present(list)
	for _, r := range slices.Backward(list) {
		if r.Number == number || number == 0 && r.Name != present.Name {
			return r.Template, nil
		}
	}
	what := "no older revision"
	if number > 0 {
		what = fmt.Sprintf("no revision %d", number)
	}
	return nil, &resource.Error{
		Err:  fmt.Errorf("uniteddeployment/%s has %s", u.Name, what),
		Hint: "'kubectl get controllerrevisions' lists those there are; or give the images: 'kubectl kruise rollout run uniteddeployment/" + u.Name + " --image …'",
	}
}
