package lint

import (
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/sidecar"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// advice is a rule about something that Kruise accepts.
type advice struct {
	// id is that of its rule.
	id string
	// kinds are the GROUP/KINDs that it checks.
	kinds []string
	check func(*subject)
	// always is set if it also checks objects that Kruise refuses, since it may explain why.
	always bool
}

// advices is the catalogue of advice.
var advices = slices.Concat(
	budgetAdvice,
	distributionAdvice,
	droppedAdvice,
	jobAdvice,
	kindAdvice,
	metadataAdvice,
	podStateAdvice,
	reachAdvice,
	releaseAdvice,
	workloadAdvice,
	sidecarSetAdvice,
	sidecarValueAdvice,
	spreadAdvice,
	unitedAdvice,
	yamlAdvice,
)

// subject is one object that a rule checks.
type subject struct {
	*relatedObjects
	// rule is the ID of the rule that checks it.
	rule string
	r    *resource.Resource
	old  *resource.Resource
	// workload is the object and was the object before the update, if they are workloads; nil
	// otherwise.
	workload, was *cluster.Workload
	found         []Problem
}

// report reports the field with this path in the newest version.
func (s *subject) report(path, hint, format string, args ...any) {
	s.reportAt(kruise.Written(s.r.Node(), path), hint, format, args...)
}

// reportAt reports the field with this path in the object as it is written.
func (s *subject) reportAt(path, hint, format string, args ...any) {
	err := s.r.Fault(path, hint, format, args...)
	if e, ok := errors.AsType[*resource.Error](err); ok {
		s.found = append(s.found, Problem{Rule: s.rule, Severity: catalogue()[s.rule].Severity, Error: e})
	}
}

// advice applies all rules for the kind; for an object that is refused, only those that may
// explain why.
func (s *relatedObjects) advice(r, old *resource.Resource, refused bool) []Problem {
	kind := r.Group() + "/" + r.Kind()
	sub := &subject{relatedObjects: s, r: r, old: old, workload: workload(r), was: workload(old)}
	for _, a := range advices {
		for _, k := range a.kinds {
			if (k == kind || k == anything) && (a.always || !refused) {
				sub.rule = a.id
				a.check(sub)
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

// decode reads the object into its type. An object that cannot be read is reported by package
// check.
func (s *subject) decode(into any) bool {
	_, err := kruise.Decode(s.r.Node(), into)
	return err == nil
}

// typed makes a rule for a typed object a rule for any object.
func typed[T any](check func(*subject, *T)) func(*subject) {
	return func(s *subject) {
		var o T
		if s.decode(&o) {
			check(s, &o)
		}
	}
}

// hub returns the object in the newest version of its kind.
func (s *subject) hub() *tree.Node {
	hub, _, err := kruise.ToHub(s.r.Node())
	if err != nil {
		return s.r.Node()
	}
	return hub
}

// The kinds of objects that rules check.
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

	nativeStatefulSet = "apps/StatefulSet"
)

// relatedObjects has the other objects that rules may depend on. It is collected once and only
// read afterwards.
type relatedObjects struct {
	c       *stage.Context
	request Request
	old     map[resource.ID]*resource.Resource
	// templates are those of all objects, checked or known.
	templates []template
	// labelled finds templates by their labels, owned the first one of each object.
	labelled  *kruise.LabelIndex
	owned     map[resource.ID]int
	computing sync.Once
	computed  []sidecar.Excess
}

// excesses are the resources that SidecarSets compute for pods and the API server
// refuses. They are computed at the first call.
func (s *relatedObjects) excesses() []sidecar.Excess {
	s.computing.Do(func() { s.computed = sidecar.Excesses(s.c, slices.Concat(s.request.Objects, s.request.Context)) })
	return s.computed
}

// template is a pod template or a pod, with what selectors select it by.
type template struct {
	owner     *resource.Resource
	namespace string
	labels    labels.Set
	// spec is that of the pods.
	spec *tree.Node
	// replicas of the owner, -1 where it has no such number.
	replicas int
}

func newRelatedObjects(c *stage.Context, q Request) *relatedObjects {
	s := &relatedObjects{c: c, request: q, old: map[resource.ID]*resource.Resource{}, owned: map[resource.ID]int{}}
	for _, r := range q.Old {
		s.old[c.Facts.IDOf(r)] = r
	}
	for _, list := range [][]*resource.Resource{q.Objects, q.Context} {
		for _, r := range list {
			s.addTemplates(r)
		}
	}
	s.labelled = kruise.NewLabelIndex(len(s.templates), func(i int) map[string]string { return s.templates[i].labels })
	return s
}

func (s *relatedObjects) addTemplates(r *resource.Resource) {
	found, _ := s.c.Templates(r)
	if id := s.c.Facts.IDOf(r); len(found) > 0 {
		if _, twice := s.owned[id]; !twice {
			s.owned[id] = len(s.templates)
		}
	}
	for _, t := range found {
		replicas := -1
		if n, ok := tree.Int(tree.Get(r.Node(), "spec", "replicas")); ok {
			replicas = int(n)
		} else if scales[r.Kind()] {
			replicas = 1
		}
		s.templates = append(s.templates, template{
			owner: r, namespace: s.c.Facts.NamespaceOf(r), replicas: replicas,
			labels: tree.Strings(tree.Get(t.Node, "metadata", "labels")), spec: tree.Get(t.Node, "spec"),
		})
	}
}

// scales are the kinds whose replicas default to 1.
var scales = map[string]bool{kruise.KindCloneSet: true, kruise.KindDeployment: true, kruise.KindReplicaSet: true, kruise.KindStatefulSet: true, kruise.KindUnitedDeployment: true}

// selected returns the templates in a namespace (any, when it is empty) that a
// selector finds.
func (s *relatedObjects) selected(namespace string, selector labels.Selector) []template {
	var out []template
	for _, place := range s.labelled.Candidates(selector) {
		if t := s.templates[place]; (namespace == "" || t.namespace == namespace) && selector.Matches(t.labels) {
			out = append(out, t)
		}
	}
	return out
}
