package patches

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// ephemeral is one EphemeralJob on its way.
type ephemeral struct {
	request
	spec kruise.EphemeralJobSpec
	// mark is in an environment variable of each container that the job adds.
	mark string
}

// ephemeralJob returns a step for each pod that is to get the containers
// (docs/kruise/jobs.md#ephemeraljob).
func ephemeralJob(c *stage.Context, r *resource.Resource) (*Sequence, error) {
	var object kruise.EphemeralJob
	if _, err := kruise.Decode(r.Node(), &object); err != nil {
		return nil, r.Wrap(err, "")
	}
	q := &ephemeral{request: request{c, r, "ephemeraljob"}, spec: object.Spec, mark: string(object.UID)}
	if q.mark == "" {
		q.mark = kruise.SourceValue(r.Kind(), r.Name())
	}
	pods, err := q.pods()
	if err != nil {
		return nil, err
	}
	todo, begun, err := q.targets(pods)
	if err != nil {
		return nil, r.Fault("spec.selector", "", "%v", err)
	}
	q.reportFields(len(pods.list), len(todo)+len(begun))
	return q.steps(todo, begun), nil
}

// steps writes the sequence: pods that have the containers already count as begun,
// and no more than the job allows work at a time.
func (q *ephemeral) steps(todo, begun []*corev1.Pod) *Sequence {
	s := q.sequence(q.summary(len(todo), len(begun)))
	s.Warnings = q.warnings(todo)
	switch {
	case q.spec.Paused:
		s.Warnings = append(s.Warnings, "the job is paused: no pod gets a container until it is rendered with paused false")
		return s
	case q.parallelism() == 0:
		s.Warnings = append(s.Warnings, "no pod may begin (parallelism 0): none gets a container until it is rendered with a greater one")
		return s
	}
	all := slices.Concat(begun, todo)
	for i := len(begun); i < len(all); i++ {
		step := q.step(all[i])
		if p := q.parallelism(); i >= p {
			step.Before = append(step.Before, q.ended(all[i-p])...)
		}
		s.Steps = append(s.Steps, step)
	}
	if n := len(s.Steps); n > 0 {
		last := &s.Steps[n-1]
		for _, p := range all[max(0, len(all)-q.parallelism()):] {
			last.After = append(last.After, q.ended(p)...)
		}
	}
	return s
}

func (q *ephemeral) summary(todo, begun int) string {
	text := strings.Join(q.names(), ", ") + " is added to " + counted.Of(todo, "pod")
	if begun > 0 {
		text += fmt.Sprintf("; %s got it before", counted.Of(begun, "pod"))
	}
	return text
}

func (q *ephemeral) names() []string {
	var out []string
	for _, c := range q.spec.Template.EphemeralContainers {
		out = append(out, c.Name)
	}
	return out
}

// parallelism is how many pods work at a time; one by default.
func (q *ephemeral) parallelism() int {
	if q.spec.Parallelism == nil {
		return 1
	}
	return max(int(*q.spec.Parallelism), 0)
}

// step gives one pod the containers.
func (q *ephemeral) step(p *corev1.Pod) Step {
	return Step{
		Name: "pod-" + p.Name, Title: "add " + strings.Join(q.names(), ", ") + " to pod " + p.Name,
		Patch: &Patch{
			Target: podTarget(p.Namespace, p.Name), Type: "strategic", Subresource: "ephemeralcontainers",
			Body: map[string]any{"spec": map[string]any{"ephemeralContainers": q.containers()}},
		},
		Before: append(samePod(p), Condition{Text: "the pod runs", Check: waitFor(podTarget(p.Namespace, p.Name), ".status.phase", string(corev1.PodRunning), soon)}),
		Notes:  []string{"the containers stay in the pod as long as the pod does: they cannot be removed"},
	}
}

// containers are the job's, as they were written, each with the mark. Who sends
// the patch again changes nothing: containers merge by name.
func (q *ephemeral) containers() []any {
	list := tree.Items(tree.Get(q.r.Node(), "spec", "template", "ephemeralContainers"))
	out := make([]any, len(list))
	for i, c := range list {
		value, _ := tree.Value(c).(map[string]any)
		env, _ := value["env"].([]any)
		value["env"] = append(env, map[string]any{"name": kruise.EphemeralJobEnv, "value": q.mark})
		out[i] = value
	}
	return out
}

// ended holds when a pod's containers have ended; they are started once.
func (q *ephemeral) ended(p *corev1.Pod) []Condition {
	var out []Condition
	for _, name := range q.names() {
		path := fmt.Sprintf(`.status.ephemeralContainerStatuses[?(@.name=="%s")].state.terminated`, name)
		out = append(out, Condition{
			Text:  fmt.Sprintf("%s of pod %s has ended; it has done its work if its exitCode is 0", name, p.Name),
			Check: There(podTarget(p.Namespace, p.Name), path, q.limit()),
		})
	}
	return out
}

func (q *ephemeral) limit() string {
	if d := q.spec.ActiveDeadlineSeconds; d != nil {
		return fmt.Sprintf("%ds", *d)
	}
	return usual
}

// targets chooses the pods as Kruise does: active ones that match, the oldest first,
// without those that hold a container of the same name from elsewhere, no more than
// replicas. Begun are those that the job has given its containers before.
func (q *ephemeral) targets(pods podIndex) (todo, begun []*corev1.Pod, err error) {
	match, err := metav1.LabelSelectorAsSelector(q.spec.Selector)
	if err != nil {
		return nil, nil, err
	}
	var fit []*corev1.Pod
	for _, place := range pods.labelled.Candidates(match) {
		if p := pods.list[place]; active(p) && match.Matches(labels.Set(p.Labels)) && !q.hasNameConflict(p) {
			fit = append(fit, p)
		}
	}
	slices.SortStableFunc(fit, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	if r := q.spec.Replicas; r != nil && int(*r) < len(fit) {
		fit = fit[:max(*r, 0)]
	}
	for _, p := range fit {
		if slices.ContainsFunc(p.Spec.EphemeralContainers, q.marked) {
			begun = append(begun, p)
		} else {
			todo = append(todo, p)
		}
	}
	return todo, begun, nil
}

// active reports a pod that has not ended and is not about to.
func active(p *corev1.Pod) bool {
	return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed && p.DeletionTimestamp == nil
}

// hasNameConflict reports a pod in which one of the names is used by a container of another job.
func (q *ephemeral) hasNameConflict(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool {
		return slices.Contains(q.names(), c.Name) && !q.marked(c)
	})
}

func (q *ephemeral) marked(c corev1.EphemeralContainer) bool {
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == kruise.EphemeralJobEnv && e.Value == q.mark })
}

// reportFields reports how each field that has an effect is rendered; matched are the selected
// pods of the known ones.
func (q *ephemeral) reportFields(known, matched int) {
	if matched == 0 {
		q.report("no-pod", "spec.selector", fmt.Sprintf("no pod is selected; known pods of the namespace: %d", known))
	} else {
		q.written("spec.template.ephemeralContainers")
		q.report("selector", "spec.selector", "")
	}
	if q.spec.Replicas != nil {
		q.report("replicas", "spec.replicas", "")
	}
	switch {
	case q.parallelism() == 0:
		q.report("paused", "spec.parallelism", "")
	case matched > 1:
		q.report("parallelism", "spec.parallelism", "a step waits until no more than "+counted.Of(q.parallelism(), "pod")+" would work at a time")
	}
	if q.spec.Paused {
		q.report("paused", "spec.paused", "")
	}
	if q.spec.ActiveDeadlineSeconds != nil {
		q.report("deadline", "spec.activeDeadlineSeconds", "")
	}
	if q.spec.TTLSecondsAfterFinished != nil {
		q.report("ttl", "spec.ttlSecondsAfterFinished", "")
	}
}

// warnings are what would have the API server or the node refuse.
func (q *ephemeral) warnings(todo []*corev1.Pod) []string {
	var out []string
	for _, c := range q.spec.Template.EphemeralContainers {
		for _, p := range todo {
			has := slices.ContainsFunc(p.Spec.Containers, func(own corev1.Container) bool { return own.Name == c.TargetContainerName })
			if c.TargetContainerName != "" && !has {
				out = append(out, fmt.Sprintf("pod %s has no container %s, which %s is to look at: the API server refuses the patch, and what waits for that pod does so in vain", p.Name, c.TargetContainerName, c.Name))
			}
		}
	}
	if d := q.spec.ActiveDeadlineSeconds; d != nil {
		out = append(out, fmt.Sprintf("begin no step later than %d s after the first (activeDeadlineSeconds); containers that run then run on, as with Kruise", *d))
	}
	return out
}
