package requests

import (
	"fmt"
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

const strategyField = "spec.strategy."

// reportFields says what becomes of each field that says something.
func (q *recreate) reportFields(ways []*way) {
	if len(ways) == 0 {
		q.report("no-method", "spec.containers", "nothing is done: "+q.noWay())
		return
	}
	q.written("spec.podName")
	for _, w := range ways {
		q.report(w.method, "spec.containers", "")
	}
	if ways[0].method == evict {
		return // the pod goes as a whole, and the rest has no meaning
	}
	q.report(q.failure(), strategyField+"failurePolicy", "")
	if q.strategy.OrderedRecreate {
		q.report("ordered", strategyField+"orderedRecreate", "")
	}
	if q.strategy.ForceRecreate {
		q.report("force", strategyField+"forceRecreate", "")
	}
	if q.strategy.MinStartedSeconds > 0 {
		q.report("min-started", strategyField+"minStartedSeconds", "")
	}
	q.reportTimes(ways)
}

// failure is the rule of the failure policy.
func (q *recreate) failure() string {
	if q.strategy.FailurePolicy == kruise.ContainerRecreateIgnore {
		return "failure-ignore"
	}
	return "failure-fail"
}

func (q *recreate) reportTimes(ways []*way) {
	if g := q.strategy.TerminationGracePeriodSeconds; g != nil {
		rule := "grace"
		if own := q.pod.Spec.TerminationGracePeriodSeconds; own != nil && *own == *g && !slices.ContainsFunc(ways, func(w *way) bool { return w.method == signal }) {
			rule = "grace-same"
		}
		q.report(rule, strategyField+"terminationGracePeriodSeconds", "")
	}
	switch field := strategyField + "unreadyGracePeriodSeconds"; {
	case q.drains():
		q.report("unready", field, "")
	case q.unready() > 0:
		q.report("unready-none", field, "")
	}
	if q.spec.ActiveDeadlineSeconds != nil {
		q.report("deadline", "spec.activeDeadlineSeconds", "")
	}
	if q.spec.TTLSecondsAfterFinished != nil {
		q.report("ttl", "spec.ttlSecondsAfterFinished", "")
	}
}

// warn says what whoever sends the patches should know.
func (q *recreate) warn(s *patches.Sequence) {
	if d := q.spec.ActiveDeadlineSeconds; d != nil {
		s.Warnings = append(s.Warnings, fmt.Sprintf("stop %d s after the first step, wherever you are (activeDeadlineSeconds): what has not come back by then has failed", *d))
	}
	if len(q.pod.Status.ContainerStatuses) == 0 {
		s.Warnings = append(s.Warnings, "the status of the pod was not known: render again with --live, or with the pod as kubectl get -o yaml shows it, to have the checks filled in")
	}
	if q.unready() > 0 && !q.drains() {
		s.Warnings = append(s.Warnings, "the pod stays in its Services while its containers restart: it lacks the label "+kruise.InServiceLabel)
	}
}
