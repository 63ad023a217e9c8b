package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// templateChange is the change of template that one pod goes through, from its own
// revision to the present template.
func (c *client) templateChange(p *cluster.Pod) rules.TemplateChange {
	w := c.object()
	change := rules.TemplateChange{New: cluster.Revision{Template: w.Template}, Policy: clientPolicy(c.snap), Gates: c.snap.Gates}
	if _, ok := w.Object.(*appsv1.ReplicaSet); ok {
		change.New.Template = withoutRevisionLabel(w.Template)
		change.Old.Template = c.formerTemplate(p, change.New.Template)
		return change
	}
	for _, r := range c.snap.Revisions {
		if cluster.Hash(r.Name) == cluster.Hash(rules.RevisionOf(p)) {
			change.Old = r
		}
	}
	return change
}

// clientPolicy is how pods are updated, see [builder.updatePolicy].
func clientPolicy(s *Snapshot) rules.UpdatePolicy {
	if s.Carrier == nil || s.Workload == nil {
		return rules.PolicyInPlaceIfPossible
	}
	return rules.PolicyOf(s.Workload.Object)
}

// formerTemplate is the template that a pod of a ReplicaSet was made from, as far as it is
// known: the recorded one, where the pod names it, or the one before the plan's patch.
// It is nil for a pod of any other: which fields besides its image differ is unknown.
func (c *client) formerTemplate(p *cluster.Pod, template map[string]any) map[string]any {
	mark, change := rules.RevisionOf(p), c.plan.Change
	switch {
	case isBaseTemplate(*c.snap, mark):
		return withoutRevisionLabel(c.snap.Base)
	case mark == "" && change.FromHash == change.ToHash && c.marks():
		return nil
	case mark == "" || mark == change.FromHash && mark != change.ToHash:
		return c.templateBeforePatch(p, template)
	}
	return nil
}

// marks reports whether the plan names the revision in a template that was there before.
func (c *client) marks() bool {
	return slices.ContainsFunc(c.plan.Steps, func(s Step) bool {
		return slices.ContainsFunc(s.Patches, func(p Patch) bool {
			ops, _ := p.Body.([]any)
			return slices.ContainsFunc(ops, func(item any) bool {
				op, _ := item.(map[string]any)
				pointer, _ := op["path"].(string)
				return strings.HasSuffix(pointer, "/labels/"+revisionLabel)
			})
		})
	})
}

// isBaseTemplate reports whether a revision label names the recorded template.
func isBaseTemplate(s Snapshot, mark string) bool {
	return s.Base != nil && mark == TemplateHash(withoutRevisionLabel(s.Base))
}

// templateBeforePatch is the template that a ReplicaSet had before the plan's patch, as far as it
// matters: it is not stored, but the patch has the fields in which the two differ, and the pod has
// its images. What the patch has set is missing in it, what the patch has removed is there.
func (c *client) templateBeforePatch(p *cluster.Pod, template map[string]any) map[string]any {
	old := deepCopy(template)
	for _, path := range c.patchedPaths() {
		switch path.op {
		case "remove":
			setPointer(old, path.pointer, "")
		case "add", "replace":
			setPointer(old, path.pointer, nil)
		}
	}
	spec, _ := old["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		container, _ := item.(map[string]any)
		name, _ := container["name"].(string)
		if have, ok := p.Container(name); ok && container != nil {
			container["image"] = have.Image
		}
	}
	return old
}

// patchedPath is where a patch changes the template.
type patchedPath struct{ op, pointer string }

const templatePointer = "/spec/template/"

// patchedPaths are where the plan's patch changes the template, except for the images of
// containers, which the pod has, and the label of the revision.
func (c *client) patchedPaths() []patchedPath {
	var out []patchedPath
	for i := range c.plan.Steps {
		for _, p := range c.plan.Steps[i].Patches {
			ops, _ := p.Body.([]any)
			for _, item := range ops {
				op, _ := item.(map[string]any)
				pointer, _ := op["path"].(string)
				kind, _ := op["op"].(string)
				below, ok := strings.CutPrefix(pointer, templatePointer)
				told := alwaysStored(below) && strings.HasPrefix(below, "spec/containers/")
				if ok && !told && !strings.HasSuffix(below, "/labels/"+revisionLabel) {
					out = append(out, patchedPath{kind, below})
				}
			}
		}
	}
	return out
}

func deepCopy(v map[string]any) map[string]any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out map[string]any
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// setPointer sets the value that a JSON pointer leads to, where its parent is.
func setPointer(doc map[string]any, pointer string, v any) {
	at := strings.LastIndexByte(pointer, '/')
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[at+1:])
	parent := any(doc)
	if at > 0 {
		parent = valueAtPointer(doc, pointer[:at])
	}
	if m, ok := parent.(map[string]any); ok {
		m[key] = v
		return
	}
	if list, ok := parent.([]any); ok {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list) {
			list[i] = v
		}
	}
}

// withoutRevisionLabel is the template of a ReplicaSet without the label by which the client
// distinguishes its pods, see [revisionMark].
func withoutRevisionLabel(template map[string]any) map[string]any {
	return cluster.WithLabel(template, revisionLabel, nil)
}

// hotUpgradePair is a sidecar of HotUpgrade as it was rendered into a template: two containers
// of a pod, of which one works and the other runs an image that does nothing. Without
// Kruise the client exchanges them: the new image starts in the idle one, beside the old
// one, and when it is ready the old one is emptied (docs/kruise/sidecarset.md#hot-upgrade).
type hotUpgradePair struct {
	sidecar string
	// working and idle are the containers of this pod, image and empty what the
	// template has for them.
	working, idle string
	image, empty  string
}

// hotUpgradePairs are the pairs that template and pod both have, by name.
func hotUpgradePairs(template map[string]any, p *cluster.Pod) []hotUpgradePair {
	chosen := map[string]string{}
	meta, _ := template["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	text, _ := annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation].(string)
	if json.Unmarshal([]byte(text), &chosen) != nil {
		return nil
	}
	present, images := rules.WorkingContainers(p), imagesOf(template)
	var out []hotUpgradePair
	for _, sidecar := range slices.Sorted(maps.Keys(chosen)) {
		h := hotUpgradePair{sidecar: sidecar, working: sidecar + "-1", idle: sidecar + "-2"}
		h.image, h.empty = images[h.working], images[h.idle]
		if chosen[sidecar] == h.idle {
			h.image, h.empty = h.empty, h.image
		}
		if present[sidecar] == h.idle {
			h.working, h.idle = h.idle, h.working
		}
		if h.image != "" && h.empty != "" && hasContainer(p, h.working) && hasContainer(p, h.idle) {
			out = append(out, h)
		}
	}
	return out
}

func hasContainer(p *cluster.Pod, container string) bool {
	_, ok := p.Container(container)
	return ok
}

// current reports whether the working container has the template's image.
func (h hotUpgradePair) current(p *cluster.Pod) bool {
	c, _ := p.Container(h.working)
	return c.Image == h.image
}

// imagesOf are the images of a template's containers by name.
func imagesOf(template map[string]any) map[string]string {
	out := map[string]string{}
	eachContainer(template, func(name string, container map[string]any) { out[name], _ = container["image"].(string) })
	return out
}

// eachContainer visits the containers of a template.
func eachContainer(template map[string]any, visit func(name string, container map[string]any)) {
	spec, _ := template["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		if container, ok := item.(map[string]any); ok {
			name, _ := container["name"].(string)
			visit(name, container)
		}
	}
}

// withExchange is a change of template as it is for a pod with pairs: a new image goes
// into the idle container, and the one that works keeps what it has.
func withExchange(p *cluster.Pod, change rules.TemplateChange) (rules.TemplateChange, []hotUpgradePair) {
	pairs := hotUpgradePairs(change.New.Template, p)
	if len(pairs) == 0 || change.Old.Template == nil {
		return change, nil
	}
	before, after := map[string]string{}, map[string]string{}
	var exchanged []hotUpgradePair
	for _, h := range pairs {
		for _, name := range []string{h.working, h.idle} {
			c, _ := p.Container(name)
			before[name], after[name] = c.Image, c.Image
		}
		if !h.current(p) {
			after[h.idle] = h.image
			exchanged = append(exchanged, h)
		}
	}
	change.Old.Template = withImages(change.Old.Template, before)
	change.New.Template = withImages(change.New.Template, after)
	return change, exchanged
}

// withImages is a copy of a template with other images.
func withImages(template map[string]any, images map[string]string) map[string]any {
	out := deepCopy(template)
	eachContainer(out, func(name string, container map[string]any) {
		if image, ok := images[name]; ok {
			container["image"] = image
		}
	})
	return out
}

// restartsIdleOnly reports whether nothing restarts but containers that were idle: such a pod
// has no reason to leave its Services.
func restartsIdleOnly(spec rules.InPlaceSpec, pairs []hotUpgradePair) bool {
	for name := range spec.Images {
		if !slices.ContainsFunc(pairs, func(h hotUpgradePair) bool { return h.idle == name }) {
			return false
		}
	}
	return len(pairs) > 0 && len(spec.Refs) == 0 && len(spec.Resources) == 0
}

// annotateExchange writes the versions of both containers of each pair into the annotations as the
// new one starts.
func annotateExchange(change *cluster.PodChange, p *cluster.Pod, pairs []hotUpgradePair) {
	if len(pairs) == 0 {
		return
	}
	working := rules.WorkingContainers(p)
	for _, h := range pairs {
		working[h.sidecar] = h.idle
		number := strconv.Itoa(newestVersion(p, h) + 1)
		setAnnotation(change, kruise.SidecarSetVersionAnnotationPrefix+h.idle, number)
		setAnnotation(change, kruise.SidecarSetVersionAltAnnotationPrefix+h.working, number)
		setAnnotation(change, kruise.SidecarSetVersionAltAnnotationPrefix+h.idle, p.Annotations[kruise.SidecarSetVersionAnnotationPrefix+h.working])
	}
	text, _ := json.Marshal(working) // texts only: it cannot fail
	setAnnotation(change, kruise.SidecarSetWorkingHotUpgradeAnnotation, string(text))
}

// newestVersion is the higher of the versions of a pair: containers take the higher one
// for the newer.
func newestVersion(p *cluster.Pod, h hotUpgradePair) int {
	newest := 0
	for _, name := range []string{h.working, h.idle} {
		if n, err := strconv.Atoi(strings.TrimSpace(p.Annotations[kruise.SidecarSetVersionAnnotationPrefix+name])); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func setAnnotation(change *cluster.PodChange, key, value string) {
	if change.Annotations == nil {
		change.Annotations = map[string]*string{}
	}
	change.Annotations[key] = &value
}

// pendingExchanges are the pairs of a pod with the new image whose other container still
// runs what was there before.
func pendingExchanges(template map[string]any, p *cluster.Pod) []hotUpgradePair {
	return slices.DeleteFunc(hotUpgradePairs(template, p), func(h hotUpgradePair) bool {
		idle, _ := p.Container(h.idle)
		return !h.current(p) || idle.Image == h.empty
	})
}

// warnHotUpgrades reports which sidecars the client exchanges while they work: their new image
// starts in another container than the one that the change names.
func (b *reviewer) warnHotUpgrades() {
	if b.plan.Driver != DriverClient || b.plan.Change.Mode != rules.ModeInPlace {
		return
	}
	for _, p := range b.snap.Pods {
		if !rules.Active(p) {
			continue
		}
		for _, h := range hotUpgradePairs(b.desired.Template, p) {
			if !h.current(p) {
				b.warning(hotUpgradeWarning, h.sidecar)
			}
		}
		return
	}
}

// hotUpgradeWarning is the warning of a plan about a sidecar that is upgraded hot.
const hotUpgradeWarning = "sidecar %s is exchanged hot: its new image starts beside the old one, which is emptied when the new one is ready; such a pod restarts one idle container, twice"
