package rbac

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Rollout are the needs of carrying out a plan for a workload; object is what the
// plan writes to.
func Rollout(object cluster.Ref, resource string, p plan.Plan) []Need {
	var l list
	l.workload(object, resource)
	l.record()
	if object.Namespace == "" {
		l.add(Everywhere, "", "namespaces", "get", "create")
	}
	if p.Driver == plan.DriverClient && changesPods(p) {
		l.client()
	}
	for i := range p.Steps {
		l.step(object, &p.Steps[i])
	}
	return sorted(l)
}

// changesPods reports whether a plan does more to pods than restart their containers.
func changesPods(p plan.Plan) bool {
	return len(p.Steps) == 0 || slices.ContainsFunc(p.Steps, func(s plan.Step) bool {
		return s.Kind != plan.StepRecreateContainers && s.Kind != plan.StepPause && s.Kind != plan.StepVerify
	})
}

// releases is the group of Kruise Rollout's objects, which may control a workload.
const releases = "rollouts.kruise.io"

// workload is what is read of a workload and all that belongs to it, and the write to
// the workload itself.
func (l *list) workload(o cluster.Ref, resource string) {
	l.add(InNamespace, o.Group, resource, "get", "list", "watch", "patch")
	l.add(InNamespace, "", "pods", "get", "list", "watch")
	switch {
	case o.Kind == kruise.KindSidecarSet:
		l.addOptional(Home, "apps", "controllerrevisions", "list", "watch")
		l.addOptional(Everywhere, "", "namespaces", "list", "watch")
	case o.Kind == kruise.KindDeployment:
		l.add(InNamespace, "apps", "replicasets", "list", "watch")
	case o.Kind != kruise.KindReplicaSet && o.Kind != "Pod":
		l.addOptional(InNamespace, "apps", "controllerrevisions", "list", "watch")
	}
	if o.Kind == kruise.KindDaemonSet {
		l.add(Everywhere, "", "nodes", "list", "watch")
	} else {
		l.addOptional(Everywhere, "", "nodes", "list", "watch")
	}
	// Kruise's own Deployment, whose arguments are its feature gates.
	l.addOptional(Home, "apps", "deployments", "list")
	l.addOptional(InNamespace, releases, "rollouts", "get", "list", "watch")
	l.addOptional(InNamespace, "policy", "poddisruptionbudgets", "list", "watch")
	l.addOptional(InNamespace, kruise.PolicyGroup, "podunavailablebudgets", "list", "watch")
}

// record is what a rollout keeps in the cluster.
func (l *list) record() {
	l.add(State, "", "configmaps", "get", "list", "watch", "create", "update", "patch")
	l.add(State, "coordination.k8s.io", "leases", "get", "watch", "create", "update")
	l.addOptional(InNamespace, "events.k8s.io", "events", "create")
}

// client is what the driver client writes to pods.
func (l *list) client() {
	l.add(InNamespace, "", "pods", "patch")
	l.add(InNamespace, "", "pods/status", "patch")
	l.add(InNamespace, "", "pods/eviction", "create")
	l.addOptional(InNamespace, "", "pods/resize", "patch")
}

// step is what one step needs beyond that.
func (l *list) step(o cluster.Ref, s *plan.Step) {
	if s.Pull != nil {
		l.addOptional(InNamespace, "", "serviceaccounts", "get")
	}
	switch {
	case s.Pull != nil && o.Group == kruise.Group:
		l.add(InNamespace, kruise.Group, "imagepulljobs", "get", "list", "watch", "create")
		// They say why a node does not get an image.
		l.addOptional(Everywhere, kruise.Group, "nodeimages", "list", "watch")
	case s.Pull != nil:
		l.jobs()
		// Kruise pulls where it is there, and may be asked.
		l.addOptional(InNamespace, kruise.Group, "imagepulljobs", "get", "list", "watch", "create")
	case s.Containers != nil:
		l.restarts(s.Containers.Method)
	case s.Verify != nil && s.Verify.Job != nil:
		l.jobs()
	}
	for i := range s.Patches {
		if s.Patches[i].Subresource == "scale" {
			l.add(InNamespace, o.Group, resourceOfKind(o.Kind)+"/scale", "patch")
		}
	}
}

// jobs are Jobs that a rollout makes, with the pods that say what is wrong.
func (l *list) jobs() { l.add(InNamespace, "batch", "jobs", "get", "list", "watch", "create") }

// restarts are restarts of containers, by a method; with "" each pod has the one that
// it can have, and that is refused only when it comes to it.
func (l *list) restarts(method string) {
	l.add(InNamespace, "", "pods", "patch")
	add := l.add
	if method == "" {
		add = l.addOptional
	}
	if method == "" || method == plan.RestartCRR {
		add(InNamespace, kruise.Group, "containerrecreaterequests", "get", "list", "watch", "create")
	}
	if method == "" || method == plan.RestartSignal {
		// An exec is a GET with a web socket and a POST without.
		add(InNamespace, "", "pods/exec", "get", "create")
	}
}
