package cluster

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Pod is what the rules read of one pod. A pod can be shared: rules
// never change their input.
//
// The fields that every pass reads are first and adjacent: the cost of a pass over ten thousand
// pods is that of fetching them from memory.
type Pod struct {
	Labels      map[string]string
	Annotations map[string]string
	Conditions  []Condition
	Phase       corev1.PodPhase
	// Deleting is true as soon as there is a deletionTimestamp.
	Deleting bool
	// Digested is what [Pod.Digest] has read; its zero value is a pod that no caller
	// has prepared.
	Digested Digest

	// Node is empty until the pod is bound.
	Node string
	// Owner is its controller; empty without one.
	Owner   Owner
	Created time.Time
	// Containers and InitContainers are those of the spec, in its order, each
	// with its status.
	Containers     []Container
	InitContainers []Container
	// Ephemeral are names of ephemeral containers.
	Ephemeral []string

	Namespace string
	Name      string
	// UID distinguishes a pod from its successor of the same name.
	UID            string
	Finalizers     []string
	ReadinessGates []string
}

// Condition is one condition of a pod. Since is lastTransitionTime, which has
// whole seconds in a real cluster.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
	Since   time.Time
}

// Container is one container of a pod, spec and status together.
type Container struct {
	Name string
	// Image is what the spec asks for.
	Image string
	// Native is true for an init container with restartPolicy Always.
	Native bool
	// Final is true where the kubelet does not start it again when it ends: restartPolicy Never.
	Final bool
	// Reported is true once the status has an entry; without one the fields
	// below are empty.
	Reported bool
	// StatusImage and ImageID are what runs.
	StatusImage string
	ImageID     string
	Restarts    int
	Ready       bool
	// Waiting is the reason for which it does not run, such as ErrImagePull or CrashLoopBackOff;
	// empty while it runs. Message is the node's message about it, Ended how the container failed
	// last, such as "OOMKilled, exit code 137".
	Waiting, Message, Ended string
	// Priority is its launch priority, the N of its barrier's key p_N; nil
	// without one (docs/kruise/workloads.md#batches-by-launch-priority and
	// docs/kruise/workloads.md#what-is-added-to-pods).
	Priority *int
}

// Condition returns the condition of a type.
func (p *Pod) Condition(kind string) (Condition, bool) {
	if p.conditionsDigested() {
		switch kind {
		case string(corev1.PodReady):
			return p.nth(p.Digested.ready), p.Digested.ready >= 0
		case kruise.InPlaceUpdateReady:
			return p.nth(p.Digested.gate), p.Digested.gate >= 0
		}
	}
	i := p.find(kind)
	return p.nth(i), i >= 0
}

// Container returns the regular container of a name.
func (p *Pod) Container(name string) (Container, bool) {
	for _, c := range p.Containers {
		if c.Name == name {
			return c, true
		}
	}
	return Container{}, false
}

// PodChange is what one write does to a pod. Its zero value changes nothing.
type PodChange struct {
	// Labels and Annotations are merged; nil removes a key.
	Labels, Annotations map[string]*string
	// AddFinalizers and RemoveFinalizers change the list.
	AddFinalizers, RemoveFinalizers []string
	// Images are new images by container.
	Images map[string]string
	// Resources names containers whose resources become those of the pod's new
	// revision.
	Resources []string
	// Restart are containers that the node restarts although their image
	// stays: their env reads a label or annotation that changed.
	Restart []string
	// Reread are containers whose env reads a label or annotation that goes away.
	// Kruise does not restart them; some nodes do.
	Reread []string
	// Conditions are set by type. Since is filled in by the writer.
	Conditions []Condition
}

// Empty reports whether the change changes nothing.
func (c *PodChange) Empty() bool {
	return len(c.Labels)+len(c.Annotations)+len(c.AddFinalizers)+len(c.RemoveFinalizers)+
		len(c.Images)+len(c.Resources)+len(c.Restart)+len(c.Reread)+len(c.Conditions) == 0
}

// With returns the pod as the change leaves it at a time; the pod itself stays
// as it was, and the two share what did not change. Conditions that keep their
// status keep their time.
func (p *Pod) With(c PodChange, now time.Time) *Pod {
	out := *p
	out.Labels = Merged(p.Labels, c.Labels)
	out.Annotations = Merged(p.Annotations, c.Annotations)
	if len(c.AddFinalizers)+len(c.RemoveFinalizers) > 0 {
		kept := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool { return slices.Contains(c.RemoveFinalizers, f) })
		have := kept
		for _, f := range c.AddFinalizers {
			if !slices.Contains(have, f) {
				have = append(have, f)
			}
		}
		out.Finalizers = have
	}
	if len(c.Images) > 0 {
		out.Containers = withImages(p.Containers, c.Images)
		out.InitContainers = withImages(p.InitContainers, c.Images)
	}
	for _, set := range c.Conditions {
		out.Conditions = withCondition(out.Conditions, set, now)
	}
	return &out
}

// Merged are labels or annotations with a change merged; nil removes a key.
func Merged(have map[string]string, change map[string]*string) map[string]string {
	if len(change) == 0 {
		return have
	}
	out := maps.Clone(have)
	if out == nil {
		out = make(map[string]string, len(change))
	}
	for k, v := range change {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = *v
	}
	return out
}

func withImages(have []Container, images map[string]string) []Container {
	out := slices.Clone(have)
	for i := range out {
		if image, ok := images[out[i].Name]; ok {
			out[i].Image = image
		}
	}
	return out
}

// withCondition sets one condition. Times have whole seconds, as in a cluster.
func withCondition(have []Condition, set Condition, now time.Time) []Condition {
	set.Since = now.Truncate(time.Second)
	i := slices.IndexFunc(have, func(c Condition) bool { return c.Type == set.Type })
	if i < 0 {
		return append(slices.Clip(have), set)
	}
	if have[i].Status == set.Status {
		set.Since = have[i].Since
	}
	out := slices.Clone(have)
	out[i] = set
	return out
}

// SetTo is a condition with a status; reason and message may be empty.
func SetTo(kind string, status corev1.ConditionStatus, reason, message string) Condition {
	return Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// Interner has pods of one owner hold only once what they have in common: maps, lists and
// texts. Of ten thousand pods that is two thirds. Its zero value is ready.
type Interner struct{ last map[string]*Pod }

// kinMost bounds how many owners are remembered: pods of one come together.
const kinMost = 1 << 10

// Intern has a pod take what is equal in the last one of its owner. It is for a caller that has
// made the pod, before anybody else sees it, and before [Pod.Digest].
func (k *Interner) Intern(p *Pod) {
	if like := k.last[p.Owner.UID]; like != nil {
		p.take(like)
	}
	if k.last == nil || len(k.last) >= kinMost {
		k.last = map[string]*Pod{}
	}
	k.last[p.Owner.UID] = p
}

func (p *Pod) take(like *Pod) {
	if len(p.Labels) > 0 && maps.Equal(p.Labels, like.Labels) {
		p.Labels = like.Labels
	}
	if len(p.Annotations) > 0 && maps.Equal(p.Annotations, like.Annotations) {
		p.Annotations = like.Annotations
	}
	takeList(&p.Containers, like.Containers, (*Container).take)
	takeList(&p.InitContainers, like.InitContainers, (*Container).take)
	takeList(&p.Conditions, like.Conditions, (*Condition).take)
	takeList(&p.ReadinessGates, like.ReadinessGates, takeText)
	takeList(&p.Finalizers, like.Finalizers, takeText)
	takeText(&p.Namespace, &like.Namespace)
	takeText(&p.Node, &like.Node)
	takeText(&p.Phase, &like.Phase)
	takeText(&p.Owner.Kind, &like.Owner.Kind)
	takeText(&p.Owner.Name, &like.Owner.Name)
	takeText(&p.Owner.UID, &like.Owner.UID)
}

func (c *Container) take(like *Container) {
	takeText(&c.Name, &like.Name)
	takeText(&c.Image, &like.Image)
	takeText(&c.StatusImage, &like.StatusImage)
	takeText(&c.ImageID, &like.ImageID)
}

func (c *Condition) take(like *Condition) {
	takeText(&c.Type, &like.Type)
	takeText(&c.Status, &like.Status)
	takeText(&c.Reason, &like.Reason)
}

// takeList takes a list that is equal as a whole, else item by item.
func takeList[T comparable](p *[]T, like []T, item func(p, like *T)) {
	if len(*p) > 0 && slices.Equal(*p, like) {
		*p = like
		return
	}
	for i := range min(len(*p), len(like)) {
		item(&(*p)[i], &like[i])
	}
}

func takeText[S ~string](p, like *S) {
	if *p == *like {
		*p = *like
	}
}
