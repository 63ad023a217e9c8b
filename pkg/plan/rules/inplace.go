package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// UpdateMode is what a change of template does to a pod.
type UpdateMode string

// The modes.
const (
	// ModeUnchanged: the templates agree.
	ModeUnchanged UpdateMode = "unchanged"
	// ModeInPlace: containers restart inside the pod.
	ModeInPlace UpdateMode = "inPlace"
	// ModeMetadataOnly: labels and annotations change, nothing restarts.
	ModeMetadataOnly UpdateMode = "metadataOnly"
	// ModeRecreate: the pod is deleted and recreated.
	ModeRecreate UpdateMode = "recreate"
	// ModeDelete: the pod is deleted and none takes its place.
	ModeDelete UpdateMode = "delete"
	// ModeNotAllowed: the policy forbids recreation, so the rollout would be blocked.
	ModeNotAllowed UpdateMode = "notAllowed"
)

// UpdatePolicy is how a workload may update a pod: podUpdatePolicy of CloneSet
// and Advanced StatefulSet; an Advanced DaemonSet's Standard is PolicyRecreate.
type UpdatePolicy string

// The policies; an empty one is PolicyRecreate.
const (
	PolicyRecreate          UpdatePolicy = "ReCreate"
	PolicyInPlaceIfPossible UpdatePolicy = "InPlaceIfPossible"
	PolicyInPlaceOnly       UpdatePolicy = "InPlaceOnly"
)

// Effect is what one changed field asks for.
type Effect string

// The effects.
const (
	EffectImage     Effect = "image"
	EffectMetadata  Effect = "metadata"
	EffectEnv       Effect = "envFromMetadata"
	EffectResources Effect = "resources"
	EffectRecreate  Effect = "recreate"
)

// FieldChange is one field in which the templates differ, and what follows.
type FieldChange struct {
	// Path is below the template: spec.containers[0].image.
	Path string `json:"path"`
	// Old and New are nil where there is nothing; what is likely to be secret
	// in them is [redact.Masked].
	Old    any    `json:"old,omitempty"`
	New    any    `json:"new,omitempty"`
	Effect Effect `json:"effect"`
	// Restarts are the containers that restart for it.
	Restarts []string `json:"restarts,omitempty"`
	// Why is the deciding reason in a few words.
	Why string `json:"why,omitempty"`
}

// TemplateChange is the question: from which revision to which.
type TemplateChange struct {
	Old, New cluster.Revision
	Policy   UpdatePolicy
	Gates    cluster.Gates
}

// Eligibility is the answer for all pods at the old revision; see
// [Eligibility.ForPod] for one pod.
type Eligibility struct {
	Mode UpdateMode
	// Fields are all differences, in the order of their paths.
	Fields []FieldChange
	// Restarts are the containers that restart in place, in the order of the
	// spec.
	Restarts []string
	Policy   UpdatePolicy
	// Why is the deciding reason.
	Why string
}

// Eligible reports whether a change of template can be made in place: every
// difference must be one that a running pod can take
// (docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func (c TemplateChange) Eligible() Eligibility {
	// List the differences of the templates with what each asks for.
	var out []FieldChange
	old, updated := withMetadata(c.Old.Template), withMetadata(c.New.Template)
	for _, d := range tree.Differences(nil, old, updated) {
		f := FieldChange{Path: PathText(d.Path), Old: redact.Value(d.Path, d.Old, old), New: redact.Value(d.Path, d.New, updated)}
		c.classify(&f, d)
		out = append(out, f)
	}
	e := Eligibility{Policy: c.Policy, Fields: out}
	c.checkQOS(e.Fields)
	e.Restarts = restarts(e.Fields, c.New.Template)
	blocking := slices.IndexFunc(e.Fields, func(f FieldChange) bool { return f.Effect == EffectRecreate })
	switch {
	case len(e.Fields) == 0:
		e.Mode, e.Why = ModeUnchanged, "the templates agree"
	case c.Policy == "" || c.Policy == PolicyRecreate:
		e.Mode, e.Why = ModeRecreate, "the update policy is ReCreate"
	case blocking >= 0:
		e.refuse(fmt.Sprintf("%s: %s", e.Fields[blocking].Path, e.Fields[blocking].Why))
	case c.Gates.RecreatePodWhenChangeVCT && c.Policy != PolicyInPlaceOnly && c.Old.ClaimsHash != c.New.ClaimsHash:
		e.refuse("the volume claim templates changed, and the gate RecreatePodWhenChangeVCTInCloneSetGate is on")
	case len(e.Restarts) == 0 && !slices.ContainsFunc(e.Fields, func(f FieldChange) bool { return f.Effect != EffectMetadata }):
		e.Mode, e.Why = ModeMetadataOnly, "only labels and annotations change, nothing restarts"
	default:
		e.Mode, e.Why = ModeInPlace, "every changed field can change in a running pod"
	}
	return e
}

// refuse ends the question as the policy has it.
func (e *Eligibility) refuse(why string) {
	e.Mode, e.Why = ModeRecreate, why
	if e.Policy == PolicyInPlaceOnly {
		e.Mode = ModeNotAllowed
	}
}

// ForPod returns the mode for one pod: its own revision must still be there to
// compare with, and a DaemonSet also needs the readiness gate on the pod, which
// those made under Standard lack (docs/kruise/workloads.md#when-a-change-is-possible-in-place and
// docs/kruise/workloads.md#advanced-daemonset).
func (e Eligibility) ForPod(p *cluster.Pod, hasRevision, needsGate bool) (UpdateMode, string) {
	if e.Mode != ModeInPlace && e.Mode != ModeMetadataOnly {
		return e.Mode, e.Why
	}
	switch {
	case !hasRevision:
		e.refuse(fmt.Sprintf("revision %s of pod %s does not exist any more", cmp.Or(RevisionOf(p), "(none)"), p.Name))
	case needsGate && !slices.Contains(p.ReadinessGates, inPlaceGate):
		e.refuse(fmt.Sprintf("pod %s has no readiness gate %s", p.Name, inPlaceGate))
	}
	return e.Mode, e.Why
}

// HasInPlaceGate reports whether the pod leaves its Services while it is updated in
// place.
func HasInPlaceGate(p *cluster.Pod) bool { return slices.Contains(p.ReadinessGates, inPlaceGate) }

var effectWords = map[Effect]string{
	EffectImage: "can change in place", EffectMetadata: "merged into the pod", EffectEnv: "can change in place",
	EffectResources: "can change in place", EffectRecreate: "needs a new pod", EffectNewPods: "new pods only",
}

// Words are what the effect means for pods.
func (e Effect) Words() string { return effectWords[e] }

const inPlaceGate = kruise.InPlaceUpdateReady

// withMetadata gives the template empty labels and annotations where it has
// none, so that the first label is a change of that label.
func withMetadata(template map[string]any) map[string]any {
	return map[string]any{"metadata": TemplateMetadata(template), "spec": template["spec"]}
}

// TemplateMetadata is the metadata of a template as two templates are compared by it: empty labels
// and annotations are the same as none, and nulls and creationTimestamp do not count.
func TemplateMetadata(template map[string]any) map[string]any {
	meta := map[string]any{"labels": map[string]any{}, "annotations": map[string]any{}}
	given, _ := template["metadata"].(map[string]any)
	for k, v := range given {
		if v != nil && k != "creationTimestamp" {
			meta[k] = v
		}
	}
	return meta
}

func (c TemplateChange) classify(f *FieldChange, d tree.Difference) {
	switch {
	case d.Path[0] == "metadata":
		c.classifyMetadata(f, d)
	case inContainer(d.Path, "image") && d.Old != nil && d.New != nil:
		f.Effect, f.Why = EffectImage, "the image of a container changes in place"
		f.Restarts = []string{containerName(c.New.Template, d.Path[2])}
	case isResource(d.Path) && d.Old != nil && d.New != nil && c.Gates.InPlaceWorkloadVerticalScaling:
		f.Effect, f.Why = EffectResources, "cpu and memory change in place"
		f.Restarts = c.restartForResize(d.Path)
	default:
		f.Effect, f.Why = EffectRecreate, whyRecreate(d)
	}
}

// classifyMetadata: metadata is merged into the pod, but a container whose env
// reads a key that has a new value restarts. A key that goes away restarts
// nothing.
func (c TemplateChange) classifyMetadata(f *FieldChange, d tree.Difference) {
	f.Effect, f.Why = EffectMetadata, "metadata is merged into the pod"
	if !c.Gates.InPlaceUpdateEnvFromMetadata || d.New == nil || len(d.Path) != 3 {
		return
	}
	f.Restarts = envReaders(c.New.Template, fieldPath(d))
	if len(f.Restarts) > 0 {
		f.Effect, f.Why = EffectEnv, "an env of the container reads this key"
	}
}

// whyRecreate names the limit that a field hits.
func whyRecreate(d tree.Difference) string {
	switch {
	case isResource(d.Path):
		return "resources change in place only with the gate InPlaceWorkloadVerticalScaling, and only cpu and memory that are there already"
	case len(d.Path) > 1 && d.Path[1] == "initContainers":
		return "init containers do not change in place"
	case len(d.Path) == 3 && d.Path[1] == "containers", inContainer(d.Path, "name"):
		return "containers are compared by position: none may be added, removed or moved"
	}
	return "only images of containers, labels and annotations change in place"
}

// inContainer reports whether path is a field of spec.containers[i].
func inContainer(path []string, field string) bool {
	return len(path) == 4 && path[0] == "spec" && path[1] == "containers" && path[3] == field
}

// isResource reports whether path is cpu or memory of a regular container.
func isResource(path []string) bool {
	return len(path) == 6 && path[0] == "spec" && path[1] == "containers" && path[3] == "resources" &&
		(path[4] == "limits" || path[4] == "requests") && (path[5] == "cpu" || path[5] == "memory")
}

func (c TemplateChange) restartForResize(path []string) []string {
	container := containerAt(c.New.Template, path[2])
	for _, item := range items(container, "resizePolicy") {
		if text(item, "resourceName") == path[5] && text(item, "restartPolicy") == "RestartContainer" {
			return []string{text(container, "name")}
		}
	}
	return nil
}

// fieldPath is how an env reads a label or annotation.
func fieldPath(d tree.Difference) string { return "metadata." + d.Path[1] + "['" + d.Path[2] + "']" }

// envReaders returns the regular containers whose env reads a field of the pod.
func envReaders(template map[string]any, fieldPath string) []string {
	var out []string
	for _, container := range containers(template) {
		if slices.ContainsFunc(items(container, "env"), func(env map[string]any) bool {
			from, _ := env["valueFrom"].(map[string]any)
			ref, _ := from["fieldRef"].(map[string]any)
			return text(ref, "fieldPath") == fieldPath
		}) {
			out = append(out, text(container, "name"))
		}
	}
	return out
}

// restarts unites the restarts of all fields, in the order of the spec.
func restarts(fields []FieldChange, template map[string]any) []string {
	var out []string
	for _, container := range containers(template) {
		name := text(container, "name")
		if slices.ContainsFunc(fields, func(f FieldChange) bool { return slices.Contains(f.Restarts, name) }) {
			out = append(out, name)
		}
	}
	return out
}

func containers(template map[string]any) []map[string]any {
	spec, _ := template["spec"].(map[string]any)
	return items(spec, "containers")
}

func containerAt(template map[string]any, index string) map[string]any {
	i, err := strconv.Atoi(index)
	if all := containers(template); err == nil && i < len(all) {
		return all[i]
	}
	return nil
}

func containerName(template map[string]any, index string) string {
	return text(containerAt(template, index), "name")
}

// items returns the maps of a list; anything else in it becomes nil, so that
// positions stay.
func items(m map[string]any, key string) []map[string]any {
	list, _ := m[key].([]any)
	out := make([]map[string]any, len(list))
	for i, v := range list {
		out[i], _ = v.(map[string]any)
	}
	return out
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// PathText writes a path as users know it: spec.containers[0].image,
// metadata.annotations["a.b/c"].
func PathText(path []string) string {
	var out strings.Builder
	for _, step := range path {
		switch _, err := strconv.Atoi(step); {
		case err == nil:
			fmt.Fprintf(&out, "[%s]", step)
		case !plainKey.MatchString(step):
			fmt.Fprintf(&out, "[%q]", step)
		case out.Len() > 0:
			out.WriteString("." + step)
		default:
			out.WriteString(step)
		}
	}
	return out.String()
}

// checkQOS turns changes of resources into recreation when the pod's class
// would not stay: Kubernetes fixes it at creation
// (docs/kruise/workloads.md#when-a-change-is-possible-in-place).
func (c TemplateChange) checkQOS(fields []FieldChange) {
	old, updated := qosOf(c.Old.Template), qosOf(c.New.Template)
	if old == updated {
		return
	}
	for i := range fields {
		if f := &fields[i]; f.Effect == EffectResources {
			f.Effect, f.Restarts = EffectRecreate, nil
			f.Why = fmt.Sprintf("the QoS class would change from %s to %s", old, updated)
		}
	}
}

// qosOf returns the class that Kubernetes gives to a pod of this template.
func qosOf(template map[string]any) corev1.PodQOSClass {
	spec, _ := template["spec"].(map[string]any)
	set, guaranteed := false, true
	for _, container := range append(items(spec, "containers"), items(spec, "initContainers")...) {
		resources, _ := container["resources"].(map[string]any)
		for _, name := range []string{"cpu", "memory"} {
			request, limit := quantity(resources, "requests", name), quantity(resources, "limits", name)
			set = set || request != nil || limit != nil
			guaranteed = guaranteed && limit != nil && (request == nil || request.Cmp(*limit) == 0)
		}
	}
	switch {
	case !set:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// quantity reads an amount; nothing and zero are the same.
func quantity(resources map[string]any, side, name string) *resource.Quantity {
	list, _ := resources[side].(map[string]any)
	v, ok := list[name]
	if !ok || v == nil {
		return nil
	}
	q, err := tree.Quantity(fmt.Sprint(v))
	if err != nil || q.IsZero() {
		return nil
	}
	return &q
}
