package requests

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/patches"
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
var inPlace = []struct {
	method, because string
	try             func(*recreate, *corev1.Container, int) (w *way, why string)
}{
	{imageAlias, "the digest of its image is known", (*recreate).byAlias},
	{resize, "its resizePolicy has it restarted", (*recreate).byResize},
	{signal, "its restartPolicy brings it back", (*recreate).bySignal},
}

// way is how one container, or the whole pod, is restarted.
type way struct {
	method, name, container, title string
	// because says why it is this method and none that would be preferred.
	because  string
	patch    *patches.Patch
	commands []string
	// before must hold besides what must always hold; after is for evictions.
	before, after []patches.Condition
	notes         []string
}

// choose returns the way of each container, or one for the whole pod where some
// container has none of its own; none at all where the pod would not come back.
func (q *recreate) choose() ([]*way, error) {
	wanted := q.r.Annotation(kruise.MethodAnnotation)
	if wanted != "" && !slices.Contains([]string{imageAlias, resize, signal, evict}, wanted) {
		return nil, q.r.Fault("metadata.annotations["+kruise.MethodAnnotation+"]", "one of: image-alias, resize, signal, evict", "unknown method %q", wanted)
	}
	var ways []*way
	var missing []string
	for _, named := range q.spec.Containers {
		w, why := q.wayOf(named.Name, wanted)
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
		return []*way{w}, nil
	}
	return nil, nil
}

// wayOf tries the methods in their order; why says what is against each.
func (q *recreate) wayOf(name, wanted string) (*way, string) {
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
		w, why := m.try(q, &q.pod.Spec.Containers[i], i)
		if w == nil {
			against = append(against, "not "+m.method+", as "+why)
			continue
		}
		w.method, w.container = m.method, name
		w.because = strings.Join(append([]string{m.because}, against...), "; ")
		w.name = "restart-" + name
		w.title = "restart container " + name + ": " + w.title
		return w, ""
	}
	return nil, strings.Join(against, "; ")
}

// byEviction replaces the whole pod: what made it makes another.
func (q *recreate) byEviction(because string) *way {
	owner := metav1.GetControllerOf(q.pod)
	if owner == nil || q.static() {
		return nil
	}
	return &way{
		method: evict, name: evict, because: because,
		title:    "evict the pod; " + owner.Kind + " " + owner.Name + " recreates it",
		commands: []string{targetOf(q.pod).Evict()},
		after: []patches.Condition{
			{Text: "the pod is gone", Check: targetOf(q.pod).Gone(string(q.pod.UID))},
			{Text: owner.Kind + " " + owner.Name + " has as many ready pods as before"},
		},
		notes: []string{
			"every container of the pod starts again, and the successor may be on another node",
			"the eviction is refused (429) while a PodDisruptionBudget does not allow it: try again later",
		},
	}
}

// noWay says why the pod is not evicted either.
func (q *recreate) noWay() string {
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

// methodText says for each container how it is done, and why so.
func methodText(ways []*way) string {
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
