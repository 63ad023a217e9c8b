package doctor

import (
	"cmp"
	"context"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/rbac"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// maxParallel is how many questions are asked at the same time.
const maxParallel = 16

// permissionCheck is something that a user does, and what it needs.
type permissionCheck struct {
	name, roles string
	needs       []rbac.Need
}

// permissionChecks are what this cluster allows: the driver kruise needs Kruise.
func permissionChecks(withKruise bool) []permissionCheck {
	var out []permissionCheck
	drivers := []plan.Driver{plan.DriverNative, plan.DriverClient}
	if withKruise {
		drivers = append([]plan.Driver{plan.DriverKruise}, drivers...)
	}
	for _, d := range drivers {
		out = append(out, permissionCheck{"rollout with driver " + string(d), "--driver " + string(d), rbac.All([]plan.Driver{d}, nil)})
	}
	for _, f := range append(rbac.Features, rbac.Apply) {
		out = append(out, permissionCheck{string(f), "--features " + string(f), rbac.All(drivers, []rbac.Feature{f})})
	}
	return out
}

// rights asks what the account may do in the namespace, verb by verb.
func (p *inspection) rights(ctx context.Context, withKruise bool) []verdictLine {
	all := permissionChecks(withKruise)
	denied, err := p.denied(ctx, all)
	if err != nil {
		return []verdictLine{warned("rights", "", "the server does not tell: %v", err)}
	}
	var lines []verdictLine
	for _, w := range all {
		var missing []string
		for _, n := range w.needs {
			if denied[n] {
				missing = append(missing, n.String())
			}
		}
		if len(missing) == 0 {
			lines = append(lines, passed("rights", "%s in namespace %s", w.name, p.namespace))
			continue
		}
		lines = append(lines, warned(
			"rights", "'kubectl kruise rbac "+w.roles+"' prints the roles", "%s in namespace %s: %s missing: %s", w.name, p.namespace, counted.With(len(missing), "permission is", "permissions are"), firstNames(missing),
		))
	}
	return lines
}

// denied are the needs that the account lacks. Its rules tell, which are one question for
// each namespace; where the server does not know all rules, every need is asked for.
func (p *inspection) denied(ctx context.Context, all []permissionCheck) (map[rbac.Need]bool, error) {
	out, known := map[rbac.Need]bool{}, map[string]rulesReader{}
	var open []rbac.Need
	for _, w := range all {
		for _, n := range w.needs {
			if _, seen := out[n]; seen || n.Optional {
				continue
			}
			at := p.namespaceFor(n)
			if _, asked := known[at]; !asked {
				known[at] = p.rules(ctx, at)
			}
			if out[n] = !rbac.Grants(known[at].list, n); !known[at].whole {
				open = append(open, n)
			}
		}
	}
	return out, p.askAll(ctx, open, out)
}

// askAll asks for needs one by one, several at a time.
func (p *inspection) askAll(ctx context.Context, needs []rbac.Need, denied map[rbac.Need]bool) error {
	var lock sync.Mutex
	var wait sync.WaitGroup
	var failed error
	turns := make(chan struct{}, maxParallel)
	for _, n := range needs {
		wait.Go(func() {
			turns <- struct{}{}
			no, err := p.ask(ctx, n)
			<-turns
			lock.Lock()
			defer lock.Unlock()
			if denied[n] = no; err != nil {
				failed = err
			}
		})
	}
	wait.Wait()
	return failed
}

func (p *inspection) ask(ctx context.Context, n rbac.Need) (denied bool, err error) {
	answer, err := p.core.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.namespaceFor(n), Verb: n.Verb, Group: n.Group, Resource: n.Resource, Subresource: n.Subresource,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return !answer.Status.Allowed, nil
}

// namespaceFor is the namespace that a need is asked for in.
func (p *inspection) namespaceFor(n rbac.Need) string {
	switch n.Where {
	case rbac.Everywhere:
		return ""
	case rbac.Home:
		return kruise.DefaultNamespace
	}
	return p.namespace
}

// rulesReader are what an account may do in a namespace.
type rulesReader struct {
	list []rbacv1.PolicyRule
	// whole indicates that there are no others: what they do not allow is denied.
	whole bool
}

// unusedNamespace is no name that a namespace can have: no rules are bound in it, but for those
// that hold in the whole cluster, which are then all there are.
const unusedNamespace = "no.namespace"

// rules asks for those of a namespace, or of the whole cluster for "". A server whose
// authorizers cannot list their rules says so: a webhook, for instance.
func (p *inspection) rules(ctx context.Context, namespace string) rulesReader {
	answer, err := p.core.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: cmp.Or(namespace, unusedNamespace)},
	}, metav1.CreateOptions{})
	if err != nil {
		return rulesReader{}
	}
	out := rulesReader{whole: !answer.Status.Incomplete && answer.Status.EvaluationError == ""}
	for _, r := range answer.Status.ResourceRules {
		out.list = append(out.list, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	return out
}
