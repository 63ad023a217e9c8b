package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Sidecar is what one SidecarSet means to a pod.
type Sidecar struct {
	Set string `json:"set"`
	// Injected is whether it is in the pod, Matches whether it would go into a new pod
	// like it.
	Injected bool `json:"injected"`
	Matches  bool `json:"matches"`
	// Why is the reason why it is not there, or how up to date it is.
	Why    string  `json:"why"`
	Causes []Cause `json:"causes,omitempty"`
}

// Surroundings are what injection looks at besides the pod.
type Surroundings struct {
	// Sets are all SidecarSets, Created when each was made.
	Sets    []*inject.Set
	Created map[string]time.Time
	// Namespace are the labels of the pod's namespace; Known is false where they could
	// not be read.
	Namespace map[string]string
	Known     bool
}

// Sidecars reports for each SidecarSet why it is in a pod or not, those that are in it
// or should be first. ask returns what is known of a set that is in the pod; false where it could not
// be read.
func Sidecars(p *cluster.Pod, s Surroundings, ask func(set string) (Question, bool)) ([]Sidecar, error) {
	choices, err := inject.Choose(s.Sets, &inject.Target{
		Labels: p.Labels, NamespaceLabels: s.Namespace, NamespaceKnown: s.Known, Key: p.Namespace + "/" + p.Name,
	})
	if err != nil {
		return nil, err
	}
	var out []Sidecar
	for _, c := range choices {
		one := Sidecar{Set: c.Set.Name, Injected: In(p, c.Set.Name), Matches: c.Outcome == inject.Injected}
		switch {
		case one.Injected:
			one.present(p, c, ask)
		case one.Matches:
			one.Why = s.absent(p, c)
		default:
			one.Why = c.Why()
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b Sidecar) int { return a.rank() - b.rank() })
	return out, nil
}

func (s Sidecar) rank() int {
	switch {
	case s.Injected:
		return 0
	case s.Matches:
		return 1
	}
	return 2
}

// present reports how up to date a sidecar is.
func (one *Sidecar) present(p *cluster.Pod, c inject.Choice, ask func(set string) (Question, bool)) {
	one.Why = "injected"
	if !one.Matches {
		one.Why += ", but not into new pods: " + c.Why()
	}
	if q, ok := ask(one.Set); ok {
		if podNamed(&q.Snapshot, p.Name) == nil {
			return // it does not match any more, so it is not upgraded
		}
		d := Pod(q, p.Name)
		one.Causes = slices.DeleteFunc(d.Causes, func(c Cause) bool { return aboutReadiness[c.Gate] })
		if len(one.Causes) > 0 {
			one.Why += "; on an old revision: " + one.Causes[0].Why
		}
	}
}

// absent reports why a set that matches is not in the pod.
func (s Surroundings) absent(p *cluster.Pod, c inject.Choice) string {
	const newPods = ": only a new pod gets it"
	created := s.Created[c.Set.Name]
	switch _, outside := s.Namespace[kruise.OutsideLabel]; {
	case outside:
		return "the namespace has the label " + kruise.OutsideLabel + ", which excludes it from Kruise's webhook"
	case !created.IsZero() && p.Created.Before(created):
		return fmt.Sprintf("it matches now, but the pod is older (%s) than the set (%s)%s", stamp(p.Created), stamp(created), newPods)
	}
	return "it matches now, but did not when the pod was created, or Kruise's webhook was not called" + newPods
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
