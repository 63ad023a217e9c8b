package migrate

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
)

// Side is the state of one of the workloads.
type Side struct {
	UID string
	// Replicas is what its spec asks for.
	Replicas int32
	// Exist and Available are of its status.
	Exist, Available int32
	// Observed is true if its controller has seen the spec.
	Observed bool
}

// Verb is what is to be done.
type Verb string

// The verbs.
const (
	// Grow writes the destination's replicas.
	Grow Verb = "grow"
	// Shrink writes the source's replicas.
	Shrink Verb = "shrink"
	// Wait writes nothing.
	Wait Verb = "wait"
	// Done: all have moved.
	Done Verb = "done"
	// Halt: another client scales one of the workloads.
	Halt Verb = "halt"
)

// Decision is what is to be done now, and why.
type Decision struct {
	Verb Verb
	// Replicas are to be written.
	Replicas int32
	// Reserve is how many ordinals, from the first on, Kruise's StatefulSet leaves to that of
	// Kubernetes, to be written with Replicas; -1 if nothing is written.
	Reserve int32
	// Out and In are how many have left the source, and come to the destination.
	Out, In int32
	Why     string
}

// Next reports what to do now. Whatever it returns can be written twice and by two: it
// depends on the state alone, and pods of the source only go for pods of the
// destination that are available, or that cannot be beside them.
func Next(r Record, source, destination Side, budgets []Budget) Decision {
	d := Decision{Verb: Wait, Reserve: -1, Out: r.Source - source.Replicas, In: destination.Replicas - r.Destination}
	switch {
	case r.UID != source.UID:
		return d.halt("%s is another object than the one replicas were moved from", r.From)
	case d.Out < -r.Ahead || d.Out > r.Replicas:
		return d.halt("%s was scaled to %d", r.From, source.Replicas)
	case d.In < 0 || d.In > r.Replicas:
		return d.halt("the destination was scaled to %d", destination.Replicas)
	case !source.Observed || !destination.Observed:
		return d.withReason("controllers have not seen the last change yet")
	}
	if kind := Of(r.From.Group, r.From.Kind); kind != nil && kind.Keeps {
		return d.moveByOrdinal(r, kind, source, destination, budgets)
	}
	return d.moveSideBySide(r, source, destination, budgets)
}

func (d Decision) halt(format string, args ...any) Decision {
	d.Verb, d.Why = Halt, fmt.Sprintf(format, args...)
	return d
}

func (d Decision) withReason(format string, args ...any) Decision {
	d.Why = fmt.Sprintf(format, args...)
	return d
}

func (d Decision) write(v Verb, replicas int32, why string) Decision {
	d.Verb, d.Replicas, d.Why = v, replicas, why
	return d
}

// moveSideBySide moves pods whose names are random: first more, then fewer.
func (d Decision) moveSideBySide(r Record, source, destination Side, budgets []Budget) Decision {
	missing := max(0, destination.Replicas-destination.Available)
	if n := min(r.Surge-(d.In-d.Out), r.Replicas-d.In); n > 0 {
		return d.write(Grow, destination.Replicas+n, fmt.Sprintf("%d more", n))
	}
	want := min(d.In-d.Out-missing, r.Replicas-d.Out)
	if len(budgets) > 0 && want > 0 && source.Exist > source.Replicas {
		return d.withReason("%s going: budgets still count them", podsOf(source.Exist-source.Replicas, r.From))
	}
	switch n, why := allowed(budgets, max(0, want), true); {
	case n > 0:
		return d.write(Shrink, source.Replicas-n, fmt.Sprintf("%d of the others are available", n))
	case why != "":
		return d.withReason("%s", why)
	case missing > 0:
		return d.withReason("%s not available", podsOf(missing, "the destination"))
	case source.Exist > source.Replicas:
		return d.withReason("%s going", podsOf(source.Exist-source.Replicas, r.From))
	}
	return d.write(Done, 0, "all have moved")
}

// moveByOrdinal moves pods that keep their names: a pod goes on one side before it comes
// on the other. The StatefulSet of Kubernetes has the low ordinals, Kruise's the high
// ones.
func (d Decision) moveByOrdinal(r Record, from *Kind, source, destination Side, budgets []Budget) Decision {
	missing := max(0, destination.Replicas-destination.Available)
	switch {
	case d.Out > d.In && source.Exist > source.Replicas:
		return d.withReason("%s going", podsOf(source.Exist-source.Replicas, r.From))
	case d.Out > d.In:
		if from.Native() {
			d.Reserve = source.Replicas
		}
		return d.write(Grow, r.Destination+d.Out, fmt.Sprintf("%d come back under their names", d.Out-d.In))
	case missing > 0:
		return d.withReason("%s not available", podsOf(missing, "the destination"))
	case d.Out == r.Replicas:
		return d.write(Done, 0, "all have moved")
	}
	n, why := allowed(budgets, min(r.Surge, r.Replicas-d.Out), false)
	if n == 0 {
		return d.withReason("%s", why)
	}
	if !from.Native() {
		d.Reserve = r.Destination + d.Out + n
	}
	return d.write(Shrink, source.Replicas-n, fmt.Sprintf("%d at a time", n))
}

// Budget is a PodDisruptionBudget over pods of the source.
type Budget struct {
	Name string
	Spec policyv1.PodDisruptionBudgetSpec
	// Expected and Healthy are of its status.
	Expected, Healthy int32
	// Stale is true if its status is of an older spec.
	Stale bool
}

// allows returns how many pods may be deleted now, of at most want. Deletions by controllers
// bypass budgets, so the caller that triggers them asks. lasting is true if the pods are not
// replaced, so that fewer are expected afterwards; otherwise they are recreated elsewhere.
func (b Budget) allows(want int32, lasting bool) (n int32, why string) {
	if b.Stale {
		return 0, "budget " + b.Name + " is not up to date"
	}
	for n = want; n > 0; n-- {
		expected := b.Expected
		if lasting {
			expected -= n
		}
		if b.Healthy-n >= b.desired(expected) {
			break
		}
	}
	if n == want {
		return n, ""
	}
	return n, fmt.Sprintf("budget %s: %s healthy, %d %s wanted", b.Name, counted.PodsAre(int(b.Healthy)), b.desired(b.Expected), counted.Word(int(b.desired(b.Expected)), "is", "are"))
}

// desired is how many healthy pods the budget wants of a total; percentages are
// rounded up, as Kubernetes does.
func (b Budget) desired(expected int32) int32 {
	scaled := func(v *intstr.IntOrString) int32 {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(expected), true)
		if err != nil {
			return 0
		}
		return int32(n)
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		return max(0, expected-scaled(b.Spec.MaxUnavailable))
	case b.Spec.MinAvailable != nil:
		return scaled(b.Spec.MinAvailable)
	}
	return 0
}

// allowed is what all budgets allow.
func allowed(budgets []Budget, want int32, lasting bool) (n int32, why string) {
	n = want
	for _, b := range budgets {
		if got, said := b.allows(n, lasting); got < n {
			n, why = got, said
		}
	}
	return n, why
}

// podsOf is a number of pods of one side with its verb.
func podsOf(n int32, side any) string {
	return counted.With(int(n), fmt.Sprintf("pod of %s is", side), fmt.Sprintf("pods of %s are", side))
}
