package controller

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// SidecarSource is a SidecarSet as admission knows it.
type SidecarSource struct {
	Workload *cluster.Workload
	// Revisions are its stored ones; injectionStrategy.revision may name one.
	Revisions []cluster.Revision
}

// AdmissionInput are what decides, besides the pod itself, how it is admitted.
type AdmissionInput struct {
	SidecarSets []SidecarSource
	Budgets     []*kruise.PodUnavailableBudget
	// Namespaces are the labels of each namespace.
	Namespaces map[string]map[string]string
	// EveryPodReady is the feature gate KruisePodReadinessGate: every pod gets
	// the gate KruisePodReady, not only those of Kruise's workloads.
	EveryPodReady bool
}

// Admission is what Kruise's webhook does to pods that are created: sidecars,
// readiness gate, launch priority, the name of the budget
// (docs/kruise/sidecarset.md#which-pods-match, docs/kruise/sidecarset.md#injection,
// docs/kruise/protection.md#container-launch-priority and
// docs/kruise/protection.md#podunavailablebudget; workloads 5). It is recreated whenever its
// surroundings change.
type Admission struct {
	sets    []*inject.Set
	notes   map[string]inject.Note
	budgets *budgetFinder // nil until the first pod is created
	AdmissionInput
}

// NewAdmission compiles the SidecarSets. It fails on one that no webhook would
// have let in.
func NewAdmission(s AdmissionInput) (*Admission, error) {
	a := &Admission{notes: map[string]inject.Note{}, AdmissionInput: s}
	for _, source := range s.SidecarSets {
		set, err := inject.Compile(sidecarSetNode(source.Workload), storedRevisions(source))
		if err != nil {
			return nil, err
		}
		a.sets = append(a.sets, set)
		// What a pod records of the set's present spec.
		w := source.Workload
		note := inject.Note{
			Hash:             w.Annotations[kruise.SidecarSetHashAnnotation],
			HashWithoutImage: w.Annotations[kruise.SidecarSetHashWithoutImageAnnotation],
		}
		if set, ok := w.Object.(*kruise.SidecarSet); ok {
			note.Revision = set.Status.LatestRevision
		}
		a.notes[set.Name] = note
	}
	inject.Order(a.sets)
	return a, nil
}

// sidecarSetNode is the set in its newest version, as far as injection reads it.
func sidecarSetNode(w *cluster.Workload) *tree.Node {
	return tree.Map(
		"metadata", tree.Map("name", w.Name, "annotations", tree.FromValue(values(w.Annotations))),
		"spec", tree.FromValue(w.Template),
	)
}

func values(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

func storedRevisions(s SidecarSource) []*inject.Revision {
	out := make([]*inject.Revision, 0, len(s.Revisions))
	for _, r := range s.Revisions {
		version, _ := r.Template[customVersion].(string)
		labels := map[string]any{kruise.SidecarSetNameLabel: s.Workload.Name, kruise.SidecarSetCustomVersionLabel: version}
		out = append(out, inject.ReadRevision(tree.Map(
			"metadata", tree.Map("name", r.Name, "labels", tree.FromValue(labels)),
			"revision", tree.Int64(r.Number),
			"data", tree.Map("spec", tree.FromValue(r.Template)),
		)))
	}
	return out
}

// PodRequest is a pod that is about to be created.
type PodRequest struct {
	Namespace, Name string
	Labels          map[string]string
	Annotations     map[string]string
	// Owner is the workload that the pod ends up with: the Deployment, not its
	// ReplicaSet. It is empty for a pod of its own.
	Owner cluster.Ref
}

// Admit returns the pod, a mapping with metadata and spec, as the webhook leaves
// it; what did not change is shared with what came in. The error is a reason to
// refuse the pod.
func (a *Admission) Admit(pod *tree.Node, n PodRequest, now time.Time) (*tree.Node, error) {
	contents, err := a.choose(n)
	if err != nil {
		return nil, err
	}
	out, err := a.build(pod, n, contents)
	if err != nil {
		return nil, err
	}
	record, err := a.record(n.Annotations, contents, now)
	if err != nil {
		return nil, err
	}
	if budget := a.budgetOf(n); budget != "" {
		record[kruise.RelatedBudgetAnnotation], record[kruise.RelatedBudgetOlderAnnotation] = budget, budget
	}
	return annotated(out, record), nil
}

// choose returns what is injected.
func (a *Admission) choose(n PodRequest) ([]*inject.Content, error) {
	if len(a.sets) == 0 {
		return nil, nil
	}
	labels, known := a.Namespaces[n.Namespace]
	choices, err := inject.Choose(a.sets, &inject.Target{
		Labels: n.Labels, NamespaceLabels: labels, NamespaceKnown: known, Key: n.Namespace + "/" + n.Name,
	})
	return inject.Contents(choices), err
}

// build makes what does not depend on the time: containers, gates, barriers.
func (a *Admission) build(pod *tree.Node, n PodRequest, contents []*inject.Content) (*tree.Node, error) {
	done, err := inject.Inject(pod, contents, inject.Options{})
	if err != nil {
		return nil, err
	}
	out := done.Pod
	if a.EveryPodReady || n.Owner.Group == kruise.Group {
		out = gated(out, kruise.KruisePodReady)
	}
	priorities, err := inject.LaunchPriorities(out)
	if err != nil || priorities == nil {
		return out, err
	}
	return barred(out, n.Name, priorities), nil
}

// record are the annotations that name what was injected, and when.
func (a *Admission) record(annotations map[string]string, contents []*inject.Content, now time.Time) (map[string]string, error) {
	if len(contents) == 0 {
		return map[string]string{}, nil
	}
	notes := make([]inject.Note, 0, len(contents))
	for _, c := range contents {
		note := a.notes[c.Set]
		if note.Content = c; c.Revision != "" {
			note.Revision = c.Revision
		}
		if c.Revision != "" || note.Hash == "" {
			var err error
			if note.Hash, note.HashWithoutImage, err = c.Hashes(); err != nil {
				return nil, err
			}
		}
		notes = append(notes, note)
	}
	return inject.Bookkeeping(annotations, notes, now)
}

// within returns a copy of the pod whose mapping at a path may be changed.
func within(pod *tree.Node, field string) (out, inner *tree.Node) {
	out, inner = tree.Shallow(pod), tree.Shallow(tree.Get(pod, field))
	if inner == nil {
		inner = tree.Map()
	}
	tree.Set(out, field, inner)
	return out, inner
}

func gated(pod *tree.Node, gate string) *tree.Node {
	gates := tree.Items(tree.Get(pod, "spec", "readinessGates"))
	if slices.ContainsFunc(gates, func(g *tree.Node) bool { return tree.StrAt(g, "conditionType") == gate }) {
		return pod
	}
	out, spec := within(pod, "spec")
	tree.Set(spec, "readinessGates", tree.Seq(append(slices.Clone(gates), tree.Map("conditionType", gate))...))
	return out
}

// barred gives each container the barrier of its launch priority.
func barred(pod *tree.Node, name string, priorities []int) *tree.Node {
	out, spec := within(pod, "spec")
	var containers []*tree.Node
	for i, c := range tree.Items(tree.Get(pod, "spec", "containers")) {
		c = tree.Shallow(c)
		ref := tree.Map("name", name+"-barrier", "key", "p_"+strconv.Itoa(priorities[i]))
		barrier := tree.Map("name", kruise.ContainerBarrierEnv, "valueFrom", tree.Map("configMapKeyRef", ref))
		tree.Set(c, "env", tree.Seq(append(slices.Clone(tree.Items(tree.Get(c, "env"))), barrier)...))
		containers = append(containers, c)
	}
	tree.Set(spec, "containers", tree.Seq(containers...))
	return out
}

func annotated(pod *tree.Node, add map[string]string) *tree.Node {
	if len(add) == 0 {
		return pod
	}
	out, metadata := within(pod, "metadata")
	_, annotations := within(metadata, "annotations")
	tree.Set(metadata, "annotations", annotations)
	for _, key := range slices.Sorted(maps.Keys(add)) {
		tree.Set(annotations, key, tree.String(add[key]))
	}
	return out
}

// PodFactory makes the pods of one template. What admission does is worked out once
// for all pods that it treats alike, so ten thousand cost little more than one.
// It holds for one Admission and is not safe for concurrent use.
type PodFactory struct {
	admission           *Admission
	template            *tree.Node
	labels, annotations map[string]string
	casts               map[string]*prototype
}

// prototype is a pod as admission makes it, for one choice of sidecars.
type prototype struct {
	pod      *cluster.Pod
	contents []*inject.Content
	// added are annotations that injection sets, but for those with a time in
	// them: record, which are those of the second at.
	added  map[string]string
	record map[string]string
	at     time.Time
}

// PodFactory returns the mould of a template, as decoded JSON.
func (a *Admission) PodFactory(template map[string]any) *PodFactory {
	n := tree.FromValue(template)
	return &PodFactory{
		admission: a, template: n, casts: map[string]*prototype{},
		labels: tree.Strings(tree.Get(n, "metadata", "labels")), annotations: tree.Strings(tree.Get(n, "metadata", "annotations")),
	}
}

// Pod returns the pod that an action creates. n is where it belongs; its labels and annotations
// are filled in here. id is the random part of its name. UID, owner and whatever comes later are
// left to the caller. The error is a reason to refuse the pod.
func (m *PodFactory) Pod(c CreatePod, n PodRequest, id string, now time.Time) (*cluster.Pod, error) {
	n.Labels, n.Annotations = joined(m.labels, c.Labels), joined(m.annotations, c.Annotations)
	for _, key := range c.IDLabels {
		n.Labels[key] = id
	}
	like, err := m.prototypeFor(n)
	if err != nil {
		return nil, err
	}
	if at := now.Truncate(time.Second); like.record == nil || !like.at.Equal(at) {
		if like.record, err = m.admission.record(n.Annotations, like.contents, at); err != nil {
			return nil, err
		}
		like.at = at
	}
	maps.Copy(n.Annotations, like.added)
	maps.Copy(n.Annotations, like.record)
	if budget := m.admission.budgetOf(n); budget != "" {
		n.Annotations[kruise.RelatedBudgetAnnotation], n.Annotations[kruise.RelatedBudgetOlderAnnotation] = budget, budget
	}
	out := *like.pod
	out.Namespace, out.Name = n.Namespace, n.Name
	out.Labels, out.Annotations = n.Labels, n.Annotations
	out.Created, out.Phase, out.Node = now.Truncate(time.Second), corev1.PodPending, c.Node
	// Add those of the workload in front of Kruise's own, which its controller opens as soon as it sees the pod.
	p := &out
	own := slices.DeleteFunc(slices.Clone(p.ReadinessGates), func(g string) bool { return g == kruise.KruisePodReady })
	for _, g := range c.Gates {
		if !slices.Contains(own, g) {
			own = append(own, g)
		}
	}
	if slices.Contains(p.ReadinessGates, kruise.KruisePodReady) {
		own = append(own, kruise.KruisePodReady)
		open := cluster.SetTo(kruise.KruisePodReady, corev1.ConditionTrue, "", "")
		open.Since = now.Truncate(time.Second)
		p.Conditions = append(p.Conditions, open)
	}
	p.ReadinessGates = own
	return &out, nil
}

func (m *PodFactory) prototypeFor(n PodRequest) (*prototype, error) {
	contents, err := m.admission.choose(n)
	if err != nil {
		return nil, err
	}
	// Name a choice of contents.
	var b strings.Builder
	for _, c := range contents {
		b.WriteString(c.Set + "/" + c.Revision + ",")
	}
	key := b.String()
	if found := m.casts[key]; found != nil {
		return found, nil
	}
	out, err := m.makePrototype(n, contents)
	if err == nil {
		m.casts[key] = out
	}
	return out, err
}

func (m *PodFactory) makePrototype(n PodRequest, contents []*inject.Content) (*prototype, error) {
	metadata := tree.Map("labels", tree.FromValue(values(n.Labels)), "annotations", tree.FromValue(values(n.Annotations)))
	if finalizers := tree.Get(m.template, "metadata", "finalizers"); finalizers != nil {
		tree.Set(metadata, "finalizers", finalizers)
	}
	pod := tree.Map("metadata", metadata, "spec", tree.Get(m.template, "spec"))
	built, err := m.admission.build(pod, n, contents)
	if err != nil {
		return nil, err
	}
	var typed corev1.Pod
	if _, err := tree.Decode(built, &typed); err != nil {
		return nil, err
	}
	out := &prototype{pod: cluster.ReadPod(&typed), contents: contents, added: map[string]string{}}
	for key, v := range typed.Annotations {
		if before, ok := n.Annotations[key]; !ok || before != v {
			out.added[key] = v
		}
	}
	return out, nil
}

// joined is a new map with both, the second winning; it is never nil.
func joined(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b)+4)
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// Content is what still depends on an object that is to be deleted.
type Content struct {
	// Replicas is spec.replicas of a workload; nil when it is not set.
	Replicas *int32
	// Pods are the active pods of a namespace, Claims its bound claims, Objects
	// the objects of a CustomResourceDefinition; those being deleted do not count.
	Pods, Claims, Objects int
	// CountsObjects is the feature gate DeletionProtectionForCRDCascadingGate, off by
	// default: without it a definition that Cascading protects stays at any rate.
	CountsObjects bool
}

// protected are the kinds that the webhook of deletion protection knows, by
// GROUP/KIND; true for those that Cascading protects.
var protected = map[string]bool{
	"apps/Deployment": true, "apps/ReplicaSet": true, "apps/StatefulSet": true,
	kruise.Group + "/CloneSet": true, kruise.Group + "/StatefulSet": true, kruise.Group + "/UnitedDeployment": true,
	"/Namespace": true, "apiextensions.k8s.io/CustomResourceDefinition": true,
	"/Service": false, "networking.k8s.io/Ingress": false,
}

// RefuseDeletion returns why deletion protection keeps an object, empty when it
// does not (docs/kruise/protection.md#deletion-protection). The caller knows whether the
// gate ResourcesDeletionProtection is on, and whether the object goes already.
func RefuseDeletion(ref cluster.Ref, labels map[string]string, c Content) string {
	cascading, known := protected[ref.Group+"/"+ref.Kind]
	if !known {
		return ""
	}
	const text = "forbidden by ResourcesProtectionDeletion for " + kruise.DeleteProtectionLabel + "="
	switch mode := labels[kruise.DeleteProtectionLabel]; {
	case mode == kruise.DeleteProtectionAlways:
		return text + mode
	case mode == kruise.DeleteProtectionCascading && ref.Kind == "CustomResourceDefinition" && !c.CountsObjects:
		return "feature-gate DeletionProtectionForCRDCascadingGate is not enabled"
	case mode == kruise.DeleteProtectionCascading && cascading:
		if why := c.why(); why != "" {
			return text + mode + " and " + why
		}
	}
	return ""
}

func (c Content) why() string {
	switch {
	case c.Replicas != nil && *c.Replicas > 0:
		return fmt.Sprintf("replicas %d>0", *c.Replicas)
	case c.Pods > 0:
		return fmt.Sprintf("active pods %d>0", c.Pods)
	case c.Claims > 0:
		return fmt.Sprintf("\"Bound\" status pvc %d>0", c.Claims)
	case c.Objects > 0:
		return fmt.Sprintf("active CRs %d>0", c.Objects)
	}
	return ""
}
