package patches

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// recreate is one ContainerRecreateRequest on its way.
type recreate struct {
	request
	spec     kruise.ContainerRecreateRequestSpec
	strategy kruise.ContainerRecreateRequestStrategy
	pod      *corev1.Pod
}

// recreateRequest returns the steps that restart the named containers
// (docs/kruise/jobs.md#containerrecreaterequest), nil when the pod is not known.
func recreateRequest(c *stage.Context, r *resource.Resource) (*Sequence, error) {
	var object kruise.ContainerRecreateRequest
	if _, err := kruise.Decode(r.Node(), &object); err != nil {
		return nil, r.Wrap(err, "")
	}
	kruise.Default(&object)
	q := &recreate{request: request{c, r, "containerrecreaterequest"}, spec: object.Spec, strategy: *object.Spec.Strategy}
	pods, err := q.pods()
	if err != nil {
		return nil, err
	}
	at, known := pods.places[q.spec.PodName]
	if !known {
		q.report("pod-unknown", "spec.podName", "")
		return nil, nil
	}
	q.pod = pods.list[at]
	return q.steps()
}

// target is the pod.
func (q *recreate) target() Target { return podTarget(q.pod.Namespace, q.pod.Name) }

// steps chooses the method and writes the sequence.
func (q *recreate) steps() (*Sequence, error) {
	ways, err := q.choose()
	if err != nil {
		return nil, err
	}
	q.reportFields(ways)
	s := q.sequence(q.summary(ways))
	if len(ways) == 0 {
		s.Warnings = append(s.Warnings, "nothing restarts these containers: "+q.whyNotEvicted())
		return s, nil
	}
	s.Method = methodText(ways)
	q.warn(s)
	q.outOfService(s)
	for i, w := range ways {
		s.Steps = append(s.Steps, q.step(w, i == len(ways)-1))
	}
	q.backInService(s)
	return s, nil
}

// summary reports what happens.
func (q *recreate) summary(ways []*method) string {
	switch {
	case len(ways) == 0:
		return "nothing happens to pod " + q.pod.Name
	case ways[0].method == evict:
		return "pod " + q.pod.Name + " is evicted and recreated, with all of its containers"
	case len(ways) == 1:
		return "container " + ways[0].container + " of pod " + q.pod.Name + " restarts; the pod stays"
	}
	names := make([]string, len(ways))
	for i, w := range ways {
		names[i] = w.container
	}
	return "containers " + strings.Join(names, ", ") + " of pod " + q.pod.Name + " restart, one after the other; the pod stays"
}

// step is the restart of one container. Stops are serial on both sides; what is
// ordered also waits until the container is back.
func (q *recreate) step(w *method, last bool) Step {
	s := w.Step
	if w.method == evict {
		s.Before = samePod(q.pod)
		return s
	}
	s.Before = slices.Concat(samePod(q.pod), q.unchanged(w.container), s.Before)
	s.After = []Condition{q.restarted(w.container)}
	if q.strategy.OrderedRecreate {
		s.After = append(s.After, q.restartConditions(w.container)...)
	} else if last {
		for _, c := range q.spec.Containers {
			s.After = append(s.After, q.restartConditions(c.Name)...)
		}
	}
	s.Notes = append(s.Notes, q.failureCommands(last)...)
	return s
}

// failureCommands is the failure policy. There is nothing to stop after the last.
func (q *recreate) failureCommands(last bool) []string {
	switch {
	case last:
		return nil
	case q.strategy.FailurePolicy == kruise.ContainerRecreateIgnore:
		return []string{"if this step fails, continue with the next one (failurePolicy Ignore)"}
	}
	return []string{"if this step fails, stop here: the containers that come after it stay as they are (failurePolicy Fail)"}
}

// unchanged: a container that restarted by itself since is not restarted once more,
// unless that is asked for.
func (q *recreate) unchanged(container string) []Condition {
	count, known := q.restarts(container)
	if q.strategy.ForceRecreate || !known {
		return nil
	}
	return []Condition{{
		Text:  fmt.Sprintf("%s has not restarted by itself since this was written: its restartCount is %d; otherwise leave this step out", container, count),
		Check: waitFor(q.target(), containerField(container, "restartCount"), strconv.Itoa(int(count)), soon),
	}}
}

func (q *recreate) restarted(container string) Condition {
	count, known := q.restarts(container)
	if !known {
		return Condition{Text: "the restartCount of " + container + " is greater than before"}
	}
	return Condition{
		Text:  fmt.Sprintf("%s has restarted: its restartCount is greater than %d", container, count),
		Check: Above(q.target(), containerField(container, "restartCount"), count),
	}
}

// restartConditions: a restart has succeeded when the container is ready, and has been there long
// enough.
func (q *recreate) restartConditions(container string) []Condition {
	ready := Condition{Text: container + " is ready", Check: waitFor(q.target(), containerField(container, "ready"), "true", q.limit())}
	n := q.strategy.MinStartedSeconds
	if n == 0 {
		return []Condition{ready}
	}
	still := ready
	still.Text = container + " still is"
	return []Condition{ready, {Text: fmt.Sprintf("%s has run for %d s", container, n), Check: fmt.Sprintf("sleep %d", n)}, still}
}

// limit is how long a check waits.
func (q *recreate) limit() string {
	if d := q.spec.ActiveDeadlineSeconds; d != nil {
		return fmt.Sprintf("%ds", *d)
	}
	return usual
}

// restarts is how often a container has restarted, as far as that is known.
func (q *recreate) restarts(container string) (count int32, known bool) {
	if s := q.status(container); s != nil {
		return s.RestartCount, true
	}
	return 0, false
}

func (q *recreate) status(container string) *corev1.ContainerStatus {
	for i := range q.pod.Status.ContainerStatuses {
		if s := &q.pod.Status.ContainerStatuses[i]; s.Name == container {
			return s
		}
	}
	return nil
}

// containerField is the JSONPath of one field of a container's status.
func containerField(container, name string) string {
	return fmt.Sprintf(`.status.containerStatuses[?(@.name=="%s")].%s`, container, name)
}

const strategyField = "spec.strategy."

// reportFields reports how each field that has an effect is rendered.
func (q *recreate) reportFields(ways []*method) {
	if len(ways) == 0 {
		q.report("no-method", "spec.containers", "nothing is done: "+q.whyNotEvicted())
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

func (q *recreate) reportTimes(ways []*method) {
	if g := q.strategy.TerminationGracePeriodSeconds; g != nil {
		rule := "grace"
		if own := q.pod.Spec.TerminationGracePeriodSeconds; own != nil && *own == *g && !slices.ContainsFunc(ways, func(w *method) bool { return w.method == signal }) {
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

// warn adds what users who send the patches should know.
func (q *recreate) warn(s *Sequence) {
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
