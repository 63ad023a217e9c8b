package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// kind is a kind that rollouts update, by which drivers.
type kind struct {
	group, kind, resource string
	drivers               []plan.Driver
}

var kinds = []kind{
	{kruise.Group, kruise.KindCloneSet, "clonesets", []plan.Driver{plan.DriverKruise}},
	{kruise.Group, kruise.KindStatefulSet, "statefulsets", []plan.Driver{plan.DriverKruise}},
	{kruise.Group, kruise.KindDaemonSet, "daemonsets", []plan.Driver{plan.DriverKruise}},
	{kruise.Group, kruise.KindSidecarSet, "sidecarsets", []plan.Driver{plan.DriverKruise}},
	{kruise.Group, kruise.KindUnitedDeployment, "uniteddeployments", []plan.Driver{plan.DriverKruise}},
	{"apps", kruise.KindDeployment, "deployments", []plan.Driver{plan.DriverNative}},
	{"apps", kruise.KindStatefulSet, "statefulsets", []plan.Driver{plan.DriverNative, plan.DriverClient}},
	{"apps", kruise.KindDaemonSet, "daemonsets", []plan.Driver{plan.DriverNative, plan.DriverClient}},
	{"apps", kruise.KindReplicaSet, "replicasets", []plan.Driver{plan.DriverClient}},
}

// resourceOfKind is the plural of a kind that rollouts update.
func resourceOfKind(name string) string {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.kind == name })
	if i < 0 {
		return ""
	}
	return kinds[i].resource
}

// Feature is something that rollouts can do and not everybody wants.
type Feature string

// The features.
const (
	// Pull has images pulled before pods change.
	Pull Feature = "pull"
	// Restart restarts containers within their pods.
	Restart Feature = "restart"
	// Verify runs Jobs that say whether the new pods are good.
	Verify Feature = "verify"
	// Scale changes replicas.
	Scale Feature = "scale"
)

// Approve is what a user needs to decide on rollouts that another process carries out:
// promote, pause and abort write the record and nothing else. It is not among [Features],
// which only the executor has.
const Approve Feature = "approve"

// Runner is a process that carries out what a user has approved, and decides nothing: it
// needs what carrying out needs, without the verbs that manage rollouts. It is not among
// [Features].
const Runner Feature = "runner"

// Features are all that rollouts have.
var Features = []Feature{Pull, Restart, Verify, Scale}

// steps are steps of all kinds that a feature makes.
var steps = map[Feature][]plan.Step{
	Pull:    {{Kind: plan.StepPullImages, Pull: &plan.Pull{}}},
	Restart: {{Kind: plan.StepRecreateContainers, Containers: &plan.Containers{}}},
	Verify:  {{Kind: plan.StepVerify, Verify: &plan.Verify{Job: map[string]any{}}}},
	Scale:   {{Patches: []plan.Patch{{Subresource: "scale"}}}}, // the verb scale, not a step of plans
}

// All are the needs of every rollout of some drivers with some features.
func All(drivers []plan.Driver, features []Feature) []Need {
	var l list
	p := plan.Plan{Steps: []plan.Step{{Kind: plan.StepUpdate}}}
	for _, f := range features {
		p.Steps = append(p.Steps, steps[f]...)
	}
	l.rollouts(drivers, p)
	if slices.Contains(features, Apply) {
		l.apply(func(d plan.Driver) bool { return slices.Contains(drivers, d) })
	}
	if slices.Contains(features, Approve) {
		l.add(State, "", "configmaps", "get", "patch")
		l.add(State, "coordination.k8s.io", "leases", "get")
	}
	if slices.Contains(features, Screens) {
		l.screens()
	}
	if slices.Contains(features, Lint) {
		l.lint()
	}
	if len(drivers) == 0 || slices.Contains(features, Runner) {
		return sorted(l)
	}
	// The verbs that manage rollouts: list, abort, approve, and what plan reads.
	l.add(InNamespace, "", "configmaps", "delete")
	l.addOptional(InNamespace, releases, "rollouts", "patch")
	l.addOptional(InNamespace, releases, "rollouts/status", "patch")
	return sorted(l)
}

// rollouts adds what a plan needs with each kind and its drivers.
func (l *list) rollouts(drivers []plan.Driver, p plan.Plan) {
	for _, k := range kinds {
		for _, p.Driver = range k.drivers {
			if !slices.Contains(drivers, p.Driver) {
				continue
			}
			ref := cluster.Ref{Group: k.group, Kind: k.kind, Namespace: "any", Name: "any"}
			if k.kind == kruise.KindSidecarSet {
				ref.Namespace = ""
			}
			for _, n := range Rollout(ref, k.resource, p) {
				l.put(n, n.Path(), []string{n.Verb})
			}
		}
	}
}

// Rules are the rules of a role that has all needs that pass keep.
func Rules(needs []Need, keep func(Need) bool) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	verbs := map[string][]string{}
	var order []Need
	for _, n := range needs {
		key := n.Group + "/" + n.Path()
		if !keep(n) || slices.Contains(verbs[key], n.Verb) {
			continue
		}
		if verbs[key] == nil {
			order = append(order, n)
		}
		verbs[key] = append(verbs[key], n.Verb)
	}
	for _, n := range order {
		list := verbs[n.Group+"/"+n.Path()]
		slices.SortFunc(list, func(a, b string) int { return strings.Index(verbOrder, a) - strings.Index(verbOrder, b) })
		if i := len(out) - 1; i >= 0 && out[i].APIGroups[0] == n.Group && slices.Equal(out[i].Verbs, list) {
			out[i].Resources = append(out[i].Resources, n.Path())
			continue
		}
		out = append(out, rbacv1.PolicyRule{APIGroups: []string{n.Group}, Resources: []string{n.Path()}, Verbs: list})
	}
	return out
}

// verbOrder is the order in which people write verbs.
const verbOrder = "get list watch create update patch delete"
