package requests

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
)

// bySignal asks the first process of the container to end; its kubelet starts it
// again (docs/facts/kubelet.md#kill-from-inside).
func (q *recreate) bySignal(c *corev1.Container, _ int) (*way, string) {
	switch {
	case q.pod.Spec.ShareProcessNamespace != nil && *q.pod.Spec.ShareProcessNamespace, q.pod.Spec.HostPID:
		return nil, "process 1 is none of the container's: the pod shares process IDs"
	case !q.comesBack(c):
		return nil, "its restartPolicy does not bring it back whatever it ends with"
	}
	t := targetOf(q.pod)
	w := &way{
		title: "send TERM to its first process",
		before: []patches.Condition{
			{Text: "the image holds the program kill", Check: t.Exec(c.Name, "kill", "-0", "1")},
			{Text: "its first process ends on TERM: one without a handler ignores it, and nothing sends KILL afterwards"},
		},
		notes: []string{
			"the other containers, the uid and the address of the pod stay",
			"the kubelet waits longer from time to time before it starts the container: about 1 s, then 12 s, 21 s …",
		},
	}
	q.hook(c, w)
	w.commands = append(w.commands, t.Exec(c.Name, "kill", "-TERM", "1"))
	if len(c.RestartPolicyRules) > 0 {
		w.notes = append(w.notes, "the container has restartPolicyRules: what they do depends on the exit code that it ends with")
	}
	return w, ""
}

// comesBack reports whether a kubelet starts the container again, whatever it ends
// with. A policy of its own goes before that of the pod.
func (q *recreate) comesBack(c *corev1.Container) bool {
	if c.RestartPolicy != nil {
		return *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	}
	return cmp.Or(q.pod.Spec.RestartPolicy, corev1.RestartPolicyAlways) == corev1.RestartPolicyAlways
}

// hook runs the preStop hook first, as Kruise does: a kubelet runs none for a
// container that ends by itself.
func (q *recreate) hook(c *corev1.Container, w *way) {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return
	}
	switch h := c.Lifecycle.PreStop; {
	case h.Exec != nil && len(h.Exec.Command) > 0:
		w.commands = append(w.commands, targetOf(q.pod).Exec(c.Name, h.Exec.Command...))
	case h.Sleep != nil:
		w.commands = append(w.commands, fmt.Sprintf("sleep %d", h.Sleep.Seconds))
	default:
		w.notes = append(w.notes, "the preStop hook is not a command: it is not run")
	}
}
