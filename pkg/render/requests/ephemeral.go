package requests

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
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

// ephemeralJob returns a step for each pod that shall get the containers
// (docs/kruise/jobs.md#ephemeraljob).
func ephemeralJob(c *stage.Context, r *resource.Resource) (*patches.Sequence, error) {
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
func (q *ephemeral) steps(todo, begun []*corev1.Pod) *patches.Sequence {
	s := q.sequence(q.what(len(todo), len(begun)))
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

func (q *ephemeral) what(todo, begun int) string {
	text := strings.Join(q.names(), ", ") + " is added to " + pods(todo)
	if begun > 0 {
		text += fmt.Sprintf("; %s got it before", pods(begun))
	}
	return text
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

func (q *ephemeral) names() []string {
	var out []string
	for _, c := range q.spec.Template.EphemeralContainers {
		out = append(out, c.Name)
	}
	return out
}

// parallelism is how many pods work at a time; one, unless the job says more.
func (q *ephemeral) parallelism() int {
	if q.spec.Parallelism == nil {
		return 1
	}
	return max(int(*q.spec.Parallelism), 0)
}

// step gives one pod the containers.
func (q *ephemeral) step(p *corev1.Pod) patches.Step {
	return patches.Step{
		Name: "pod-" + p.Name, Title: "add " + strings.Join(q.names(), ", ") + " to pod " + p.Name,
		Patch: &patches.Patch{
			Target: targetOf(p), Type: "strategic", Subresource: "ephemeralcontainers",
			Body: map[string]any{"spec": map[string]any{"ephemeralContainers": q.containers()}},
		},
		Before: append(samePod(p), patches.Condition{Text: "the pod runs", Check: targetOf(p).WaitFor(".status.phase", string(corev1.PodRunning), soon)}),
		Notes:  []string{"the containers stay in the pod as long as the pod does: they cannot be removed"},
	}
}

// containers are the job's, as they were written, each with the mark. Whoever sends
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
func (q *ephemeral) ended(p *corev1.Pod) []patches.Condition {
	var out []patches.Condition
	for _, name := range q.names() {
		path := fmt.Sprintf(`.status.ephemeralContainerStatuses[?(@.name=="%s")].state.terminated`, name)
		out = append(out, patches.Condition{
			Text:  fmt.Sprintf("%s of pod %s has ended; it has done its work if its exitCode is 0", name, p.Name),
			Check: targetOf(p).There(path, q.limit()),
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
