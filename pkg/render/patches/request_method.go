package patches

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// The methods, in the order in which they are preferred. Only Kruise's node agent
// stops one container and nothing else; each of these is what a client can do
// instead.
const (
	imageAlias = "image-alias"
	resize     = "resize"
	signal     = "signal"
	evict      = "evict"
)

// inPlace are the methods that leave the pod alone.
var inPlace = []struct{ method, because string }{
	{imageAlias, "the digest of its image is known"},
	{resize, "its resizePolicy has it restarted"},
	{signal, "its restartPolicy brings it back"},
}

// method is how one container, or the whole pod, is restarted: its step, with the conditions that
// must hold besides those of every step.
type method struct {
	Step

	method, container string
	// because is why this method was chosen instead of a preferred one.
	because string
}

// choose returns the way of each container, or one for the whole pod where some
// container has none of its own; none at all where the pod would not come back.
func (q *recreate) choose() ([]*method, error) {
	wanted := q.r.Annotation(kruise.MethodAnnotation)
	if wanted != "" && !slices.Contains([]string{imageAlias, resize, signal, evict}, wanted) {
		return nil, q.r.Fault("metadata.annotations["+kruise.MethodAnnotation+"]", "one of: image-alias, resize, signal, evict", "unknown method %q", wanted)
	}
	var ways []*method
	var missing []string
	for _, named := range q.spec.Containers {
		w, why := q.methodFor(named.Name, wanted)
		if w == nil {
			missing = append(missing, named.Name+": "+why)
			continue
		}
		ways = append(ways, w)
	}
	if len(missing) == 0 {
		return ways, nil
	}
	if wanted != "" && wanted != evict {
		return nil, q.r.Fault("metadata.annotations["+kruise.MethodAnnotation+"]", "leave the annotation out to have a method chosen", "%s cannot be: %s", wanted, strings.Join(missing, "; "))
	}
	if w := q.byEviction(strings.Join(missing, "; ")); w != nil {
		return []*method{w}, nil
	}
	return nil, nil
}

// methodFor tries the methods in their order; why has the reason against each.
func (q *recreate) methodFor(name, wanted string) (*method, string) {
	i := slices.IndexFunc(q.pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return nil, "the pod has no such container"
	}
	if wanted == evict {
		return nil, "eviction is asked for"
	}
	var against []string
	for _, m := range inPlace {
		if wanted != "" && m.method != wanted {
			continue
		}
		var w *method
		var why string
		switch c := &q.pod.Spec.Containers[i]; m.method {
		case imageAlias:
			w, why = q.byAlias(c, i)
		case resize:
			w, why = q.byResize(c, i)
		case signal:
			w, why = q.bySignal(c, i)
		}
		if w == nil {
			against = append(against, "not "+m.method+", as "+why)
			continue
		}
		w.method, w.container = m.method, name
		w.because = strings.Join(append([]string{m.because}, against...), "; ")
		w.Name, w.Title = "restart-"+name, "restart container "+name+": "+w.Title
		return w, ""
	}
	return nil, strings.Join(against, "; ")
}

// byEviction replaces the whole pod: what made it makes another.
func (q *recreate) byEviction(because string) *method {
	owner := metav1.GetControllerOf(q.pod)
	if owner == nil || q.static() {
		return nil
	}
	return &method{method: evict, because: because, Step: Step{
		Name: evict, Title: "evict the pod; " + owner.Kind + " " + owner.Name + " recreates it",
		Commands: []string{Evict(q.target())},
		After: []Condition{
			{Text: "the pod is gone", Check: Gone(q.target(), string(q.pod.UID))},
			{Text: owner.Kind + " " + owner.Name + " has as many ready pods as before"},
		},
		Notes: []string{
			"every container of the pod starts again, and the successor may be on another node",
			"the eviction is refused (429) while a PodDisruptionBudget does not allow it: try again later",
		},
	}}
}

// whyNotEvicted reports why the pod is not evicted either.
func (q *recreate) whyNotEvicted() string {
	if q.static() {
		return "the pod is static: its kubelet makes it from a file"
	}
	return "no controller would recreate the pod"
}

// static reports a mirror of what a kubelet runs from a file: the API server takes
// no change of it.
func (q *recreate) static() bool {
	_, mirror := q.pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

// methodText reports for each container how it is done, and why so.
func methodText(ways []*method) string {
	var out []string
	for _, w := range ways {
		text := w.method
		if w.container != "" && len(ways) > 1 {
			text = w.container + ": " + text
		}
		out = append(out, text+" ("+w.because+")")
	}
	return strings.Join(out, ", ")
}

// bySignal asks the first process of the container to end; its kubelet starts it
// again (docs/facts/kubelet.md#kill-from-inside).
func (q *recreate) bySignal(c *corev1.Container, _ int) (*method, string) {
	switch {
	case q.pod.Spec.ShareProcessNamespace != nil && *q.pod.Spec.ShareProcessNamespace, q.pod.Spec.HostPID:
		return nil, "process 1 does not belong to the container: the pod shares process IDs"
	case !q.isRestarted(c):
		return nil, "its restartPolicy does not restart it after every exit"
	}
	t := q.target()
	w := &method{Step: Step{
		Title: "send TERM to its first process",
		Before: []Condition{
			{Text: "the image holds the program kill", Check: Exec(t, c.Name, "kill", "-0", "1")},
			{Text: "its first process ends on TERM: one without a handler ignores it, and nothing sends KILL afterwards"},
		},
		Notes: []string{
			"the other containers, the uid and the address of the pod stay",
			"the kubelet waits longer from time to time before it starts the container: about 1 s, then 12 s, 21 s …",
		},
	}}
	q.hook(c, w)
	w.Commands = append(w.Commands, Exec(t, c.Name, "kill", "-TERM", "1"))
	if len(c.RestartPolicyRules) > 0 {
		w.Notes = append(w.Notes, "the container has restartPolicyRules: what they do depends on the exit code that it ends with")
	}
	return w, ""
}

// isRestarted reports whether a kubelet starts the container again, whatever it ends
// with. A policy of its own goes before that of the pod.
func (q *recreate) isRestarted(c *corev1.Container) bool {
	if c.RestartPolicy != nil {
		return *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	}
	return cmp.Or(q.pod.Spec.RestartPolicy, corev1.RestartPolicyAlways) == corev1.RestartPolicyAlways
}

// hook runs the preStop hook first, as Kruise does: a kubelet runs none for a
// container that ends by itself.
func (q *recreate) hook(c *corev1.Container, w *method) {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return
	}
	switch h := c.Lifecycle.PreStop; {
	case h.Exec != nil && len(h.Exec.Command) > 0:
		w.Commands = append(w.Commands, Exec(q.target(), c.Name, h.Exec.Command...))
	case h.Sleep != nil:
		w.Commands = append(w.Commands, fmt.Sprintf("sleep %d", h.Sleep.Seconds))
	default:
		w.Notes = append(w.Notes, "the preStop hook is not a command: it is not run")
	}
}

// resizeServed is the version of Kubernetes in which the subresource resize is on by
// default (docs/facts/kubernetes.md#features-by-version).
const resizeServed = 33

// more is by how much a container's request is raised: as little as there is. Only
// raising is safe (docs/facts/kubelet.md#resize).
var more = map[corev1.ResourceName]resource.Quantity{
	corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi"),
}

// byResize raises a request of a container whose resizePolicy restarts it: the kubelet restarts
// just that container (docs/facts/kubelet.md#resize).
func (q *recreate) byResize(c *corev1.Container, _ int) (*method, string) {
	switch {
	case !q.c.Since(resizeServed):
		return nil, fmt.Sprintf("the API server resizes pods from 1.%d on", resizeServed)
	case q.static():
		return nil, "the pod is static"
	case q.pod.Spec.OS != nil && q.pod.Spec.OS.Name == corev1.Windows:
		return nil, "pods of Windows are not resized"
	}
	name := restarting(c)
	if name == "" {
		return nil, "no resizePolicy RestartContainer of its is for a request that it has"
	}
	was := c.Resources.Requests[name]
	becomes := was.DeepCopy()
	becomes.Add(more[name])
	resources := map[string]any{"requests": map[string]any{string(name): becomes.String()}}
	if limit, limited := c.Resources.Limits[name]; limited && limit.Cmp(becomes) < 0 {
		resources["limits"] = map[string]any{string(name): becomes.String()} // the class of service must stay
	}
	containers := []any{map[string]any{"name": c.Name, "resources": resources}}
	return &method{Step: Step{
		Title: fmt.Sprintf("raise its request of %s from %s to %s", name, was.String(), becomes.String()),
		Patch: &Patch{
			Target: q.target(), Type: "strategic", Subresource: "resize",
			Body: map[string]any{"spec": map[string]any{"containers": containers}},
		},
		Notes: []string{
			"the other containers, the uid and the address of the pod stay",
			"a node without room for it refuses (403), or keeps the request pending: then the container does not restart",
			fmt.Sprintf("the pod asks for %s more %s than its template until it is replaced", quantity(name), name),
		},
	}}, ""
}

func quantity(name corev1.ResourceName) string {
	q := more[name]
	return q.String()
}

// restarting is the resource for which the container restarts when its request
// changes, "" for none. A limit that the request equals moves with it.
func restarting(c *corev1.Container) corev1.ResourceName {
	for _, p := range c.ResizePolicy {
		if _, known := more[p.ResourceName]; !known || p.RestartPolicy != corev1.RestartContainer {
			continue
		}
		if _, asks := c.Resources.Requests[p.ResourceName]; asks {
			return p.ResourceName
		}
	}
	return ""
}

// byAlias names the same image in another way: the kubelet restarts a container
// whose image reference changes, and that one alone (docs/facts/kubelet.md#images and
// docs/facts/kubelet.md#restart-by-alias).
func (q *recreate) byAlias(c *corev1.Container, i int) (*method, string) {
	if q.static() {
		return nil, "the pod is static"
	}
	status := q.status(c.Name)
	if status == nil {
		return nil, "the status of the pod is not known, and with it the digest of the image"
	}
	next, why := kruise.ImageAlias(c.Image, status.Image, status.ImageID)
	if next == "" {
		return nil, why
	}
	at := fmt.Sprintf("/spec/containers/%d/", i)
	ops := []any{
		operation("test", at+"name", c.Name), operation("test", at+"image", c.Image), operation("replace", at+"image", next),
	}
	if q.pod.UID != "" {
		ops = append([]any{operation("test", "/metadata/uid", string(q.pod.UID))}, ops...)
	}
	w := &method{Step: Step{
		Title: "name its image in another way, " + next,
		Patch: &Patch{Target: q.target(), Type: "json", Body: ops},
		Notes: []string{
			"the kubelet runs the preStop hook and keeps to the grace period of the pod; the other containers, the uid and the address of the pod stay",
			"the pod now differs from its template in this reference, which controllers leave alone until they replace the pod",
			"a restart within 10 s of the one before, with the same reference, waits for the kubelet's back-off",
		},
	}}
	if c.ImagePullPolicy == corev1.PullAlways {
		w.Notes = append(w.Notes, "imagePullPolicy is Always: the registry must answer for "+next)
	}
	return w, ""
}

func operation(op, path string, value any) any {
	return map[string]any{"op": op, "path": path, "value": value}
}

// drains reports whether the pod can be taken out of service before its containers
// stop: it has the label by which Services choose it (docs/drivers.md).
func (q *recreate) drains() bool {
	_, served := q.pod.Labels[kruise.InServiceLabel]
	return served && q.unready() > 0
}

func (q *recreate) unready() int64 {
	if q.strategy.UnreadyGracePeriodSeconds == nil {
		return 0
	}
	return *q.strategy.UnreadyGracePeriodSeconds
}

// outOfService is the step before the first restart.
func (q *recreate) outOfService(s *Sequence) {
	if !q.drains() {
		return
	}
	n := q.unready()
	s.Steps = append(s.Steps, Step{
		Name: "out-of-service", Title: "take the pod out of its Services, and wait until requests in progress have ended",
		Patch: q.label(nil), Before: samePod(q.pod),
		After: []Condition{{Text: fmt.Sprintf("%d s have passed (unreadyGracePeriodSeconds)", n), Check: fmt.Sprintf("sleep %d", n)}},
	})
}

// backInService is the step after the last one. An evicted pod has a successor that
// was never taken out.
func (q *recreate) backInService(s *Sequence) {
	if !q.drains() || s.Steps[len(s.Steps)-1].Name == evict {
		return
	}
	s.Steps = append(s.Steps, Step{
		Name: "in-service", Title: "put the pod back into its Services, also when a step before has failed",
		Patch: q.label(q.pod.Labels[kruise.InServiceLabel]), Before: samePod(q.pod),
	})
}

func (q *recreate) label(value any) *Patch {
	labels := map[string]any{"labels": map[string]any{kruise.InServiceLabel: value}}
	return &Patch{Target: q.target(), Type: "merge", Body: map[string]any{"metadata": labels}}
}
