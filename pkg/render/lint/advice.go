package lint

import (
	"errors"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// advice is a rule about what Kruise lets through.
type advice struct {
	Rule
	// kinds are the GROUP/KINDs that it looks at.
	kinds []string
	look  func(*subject)
	// always: also of an object that Kruise refuses, since it may say why.
	always bool
}

// advices is the catalogue of advice, one file per theme.
var advices []advice

// advise adds rules while the package is initialised.
func advise(list ...advice) bool { //nolint:unparam // a result is what lets a package-level variable call it
	advices = append(advices, list...)
	return true
}

// subject is one object that a rule looks at.
type subject struct {
	*surroundings
	rule Rule
	r    *resource.Resource
	old  *resource.Resource
	// workload and was are the object and what it replaces, where they are
	// workloads; nil otherwise.
	workload, was *cluster.Workload
	found         []Problem
}

// say reports the field with this path in the newest version.
func (s *subject) say(path, hint, format string, args ...any) {
	s.at(kruise.Written(s.r.Node(), path), hint, format, args...)
}

// at reports the field with this path in the object as it is written.
func (s *subject) at(path, hint, format string, args ...any) {
	err := s.r.Fault(path, hint, format, args...)
	if e, ok := errors.AsType[*resource.Error](err); ok {
		s.found = append(s.found, Problem{Rule: s.rule.ID, Severity: s.rule.Severity, Error: e})
	}
}

// advice asks all rules of the kind, of an object that is refused the few that may
// say why.
func (s *surroundings) advice(r, old *resource.Resource, refused bool) []Problem {
	kind := r.Group() + "/" + r.Kind()
	sub := &subject{surroundings: s, r: r, old: old, workload: workload(r), was: workload(old)}
	for _, a := range advices {
		for _, k := range a.kinds {
			if (k == kind || k == anything) && (a.always || !refused) {
				sub.rule = a.Rule
				a.look(sub)
			}
		}
	}
	return sub.found
}

// workload reads an object that has a rollout, nil for any other.
func workload(r *resource.Resource) *cluster.Workload {
	if r == nil || !cluster.IsWorkload(r.Group(), r.Kind()) {
		return nil
	}
	w, err := cluster.ReadWorkload(r.Node())
	if err != nil {
		return nil
	}
	return w
}

// decode reads the object into its type; one that cannot be read has been
// reported by then.
func (s *subject) decode(into any) bool {
	_, err := kruise.Decode(s.r.Node(), into)
	return err == nil
}

// typed makes a rule about the object's type one about the object.
func typed[T any](look func(*subject, *T)) func(*subject) {
	return func(s *subject) {
		var o T
		if s.decode(&o) {
			look(s, &o)
		}
	}
}

// hub is the object in its kind's newest version.
func (s *subject) hub() *tree.Node {
	hub, _, err := kruise.ToHub(s.r.Node())
	if err != nil {
		return s.r.Node()
	}
	return hub
}

// The kinds by which rules name what they look at.
const (
	cloneSet    = kruise.Group + "/CloneSet"
	statefulSet = kruise.Group + "/StatefulSet"
	daemonSet   = kruise.Group + "/DaemonSet"
	sidecarSet  = kruise.Group + "/SidecarSet"
	budget      = kruise.PolicyGroup + "/PodUnavailableBudget"
	spread      = kruise.Group + "/WorkloadSpread"
	united      = kruise.Group + "/UnitedDeployment"
	podState    = kruise.Group + "/PersistentPodState"
	broadcast   = kruise.Group + "/BroadcastJob"
	cronJob     = kruise.Group + "/AdvancedCronJob"
	shared      = kruise.Group + "/ResourceDistribution"
	// anything is every kind.
	anything = "*"
)
