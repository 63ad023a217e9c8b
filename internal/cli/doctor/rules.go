package doctor

import (
	"cmp"
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rules are what an account may do in a namespace.
type rules struct {
	list []rbacv1.PolicyRule
	// whole says that there are no others: what they do not allow is denied.
	whole bool
}

// nowhere is no name that a namespace can have: no rules are bound in it, but for those
// that hold in the whole cluster, which are then all there are.
const nowhere = "no.namespace"

// rules asks for those of a namespace, or of the whole cluster for "". A server whose
// authorizers cannot list their rules says so: a webhook, for instance.
func (p *patient) rules(ctx context.Context, namespace string) rules {
	answer, err := p.core.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: cmp.Or(namespace, nowhere)},
	}, metav1.CreateOptions{})
	if err != nil {
		return rules{}
	}
	out := rules{whole: !answer.Status.Incomplete && answer.Status.EvaluationError == ""}
	for _, r := range answer.Status.ResourceRules {
		out.list = append(out.list, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	return out
}
