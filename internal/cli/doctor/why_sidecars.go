package doctor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/resourcearg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

// sidecars describes what each SidecarSet of the cluster means to a pod; none where there
// is no Kruise.
func (o *whyOptions) sidecars(ctx context.Context, p *cluster.Pod) ([]diagnose.Sidecar, error) {
	list, err := o.sidecarSets(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s := diagnose.Surroundings{Created: map[string]time.Time{}}
	revisions := o.revisions(ctx)
	for i := range list {
		u := &list[i]
		hub, _, err := kruise.ToHub(tree.FromValue(u.Object))
		if err != nil {
			return nil, err
		}
		set, err := inject.Compile(hub, revisions)
		if err != nil {
			return nil, fmt.Errorf("SidecarSet %s: %w", u.GetName(), err)
		}
		s.Sets, s.Created[u.GetName()] = append(s.Sets, set), u.GetCreationTimestamp().Time
	}
	inject.Order(s.Sets)
	o.namespace(ctx, p.Namespace, &s)
	return diagnose.Sidecars(p, s, func(set string) (diagnose.Question, bool) {
		name, err := resourcearg.Parse("sidecarset/" + set)
		if err != nil {
			return diagnose.Question{}, false
		}
		q, err := o.question(ctx, name, p.Namespace)
		return q, err == nil
	})
}

// sidecarSets lists the SidecarSets in the newest version that is served.
func (o *whyOptions) sidecarSets(ctx context.Context) ([]unstructured.Unstructured, error) {
	for _, version := range []string{kruise.V1beta1, kruise.V1alpha1} {
		kind := schema.GroupVersionResource{Group: kruise.Group, Version: version, Resource: "sidecarsets"}
		list, err := o.dynamic.Resource(kind).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		switch {
		case err == nil:
			return list.Items, nil
		case apierrors.IsForbidden(err):
			o.warn("not considered: SidecarSets: %v", err)
			return nil, nil
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("cannot read SidecarSets: %w", err)
		}
	}
	return nil, nil
}

// revisions are the stored ones, which injectionStrategy may name.
func (o *whyOptions) revisions(ctx context.Context) []*inject.Revision {
	list, err := o.dynamic.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "controllerrevisions"}).
		Namespace(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: kruise.SidecarSetNameLabel, ResourceVersion: "0"})
	if err != nil {
		o.warn("not considered: stored revisions of SidecarSets: %v", err)
		return nil
	}
	var out []*inject.Revision
	for i := range list.Items {
		if r := inject.ReadRevision(tree.FromValue(list.Items[i].Object)); r != nil {
			out = append(out, r)
		}
	}
	return out
}

func (o *whyOptions) namespace(ctx context.Context, name string, s *diagnose.Surroundings) {
	ns, err := o.core.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		o.warn("not considered: the labels of namespace %s: %v", name, err)
		s.Namespace = map[string]string{kruise.NamespaceNameLabel: name}
		return
	}
	s.Namespace, s.Known = ns.Labels, true
}
