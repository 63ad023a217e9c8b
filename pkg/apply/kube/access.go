package kube

import (
	"context"
	"fmt"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// deniedError are permissions that a rollout lacks.
type deniedError struct {
	// Needs are what is not allowed, each with the namespace, "" for all of them.
	Needs []string
}

// Error names all of them.
func (e *deniedError) Error() string { return "you may not " + strings.Join(e.Needs, ", nor ") }

// May checks at the server, before anything is written, all permissions that carrying
// out the plan needs; the error is a *DeniedError where one is missing. An
// answer that cannot be had counts as allowed: the request itself may then be refused.
func (c *Cluster) May(ctx context.Context, p plan.Plan) error {
	o := c.changedObject()
	needs := rbac.Rollout(o.Ref, o.Resource.Resource, p)
	denied := make([]bool, len(needs))
	var all sync.WaitGroup
	turns := make(chan struct{}, 8)
	for i, n := range needs {
		if n.Optional {
			continue
		}
		all.Go(func() {
			turns <- struct{}{}
			denied[i] = c.isDenied(ctx, n)
			<-turns
		})
	}
	all.Wait()
	out := &deniedError{}
	for i, n := range needs {
		if denied[i] {
			out.Needs = append(out.Needs, n.String()+namespaceText(c.namespaceOf(n)))
		}
	}
	if len(out.Needs) == 0 {
		return nil
	}
	return out
}

func namespaceText(namespace string) string {
	if namespace == "" {
		return " in the cluster"
	}
	return fmt.Sprintf(" in namespace %s", namespace)
}

// isDenied reports whether the server says that a request would be forbidden. Workloads that
// share their watches ask once for each kind of request in a namespace.
func (c *Cluster) isDenied(ctx context.Context, n rbac.Need) bool {
	if c.opt.Shared == nil {
		return c.reviewed(ctx, n)
	}
	return c.opt.Shared.denied(reviewKey{c.namespaceOf(n), n.Verb, n.Group, n.Resource, n.Subresource}, func() bool { return c.reviewed(ctx, n) })
}

// reviewed asks the server whether a request would be forbidden.
func (c *Cluster) reviewed(ctx context.Context, n rbac.Need) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: c.namespaceOf(n), Verb: n.Verb, Group: n.Group, Resource: n.Resource, Subresource: n.Subresource,
		},
	}}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answer, err := c.core.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	return err == nil && !answer.Status.Allowed
}

// namespaceOf is the namespace of a permission for this workload.
func (c *Cluster) namespaceOf(n rbac.Need) string {
	switch n.Where {
	case rbac.Everywhere:
		return ""
	case rbac.Home:
		return kruise.DefaultNamespace
	case rbac.State:
		return c.record.namespace
	}
	return c.changedObject().Namespace
}
