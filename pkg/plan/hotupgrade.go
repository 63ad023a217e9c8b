package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/controller"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// hotPair is a sidecar of HotUpgrade as it was rendered into a template: two containers
// of a pod, of which one works and the other runs an image that does nothing. Without
// Kruise the client exchanges them: the new image starts in the idle one, beside the old
// one, and when it is ready the old one is emptied (docs/kruise/sidecarset.md#hot-upgrade).
type hotPair struct {
	sidecar string
	// working and idle are the containers of this pod, image and empty what the
	// template has for them.
	working, idle string
	image, empty  string
}

// hotPairs are the pairs that template and pod both have, by name.
func hotPairs(template map[string]any, p *cluster.Pod) []hotPair {
	chosen := map[string]string{}
	meta, _ := template["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	text, _ := annotations[kruise.SidecarSetWorkingHotUpgradeAnnotation].(string)
	if json.Unmarshal([]byte(text), &chosen) != nil {
		return nil
	}
	present, images := rules.WorkingContainers(p), imagesOf(template)
	var out []hotPair
	for _, sidecar := range slices.Sorted(maps.Keys(chosen)) {
		h := hotPair{sidecar: sidecar, working: sidecar + "-1", idle: sidecar + "-2"}
		h.image, h.empty = images[h.working], images[h.idle]
		if chosen[sidecar] == h.idle {
			h.image, h.empty = h.empty, h.image
		}
		if present[sidecar] == h.idle {
			h.working, h.idle = h.idle, h.working
		}
		if h.image != "" && h.empty != "" && has(p, h.working) && has(p, h.idle) {
			out = append(out, h)
		}
	}
	return out
}

func has(p *cluster.Pod, container string) bool {
	_, ok := p.Container(container)
	return ok
}

// current reports whether the working container has the template's image.
func (h hotPair) current(p *cluster.Pod) bool {
	c, _ := p.Container(h.working)
	return c.Image == h.image
}

// imagesOf are the images of a template's containers by name.
func imagesOf(template map[string]any) map[string]string {
	out := map[string]string{}
	each(template, func(name string, container map[string]any) { out[name], _ = container["image"].(string) })
	return out
}

// each visits the containers of a template.
func each(template map[string]any, visit func(name string, container map[string]any)) {
	spec, _ := template["spec"].(map[string]any)
	containers, _ := spec["containers"].([]any)
	for _, item := range containers {
		if container, ok := item.(map[string]any); ok {
			name, _ := container["name"].(string)
			visit(name, container)
		}
	}
}

// exchanging is a change of template as it is for a pod with pairs: a new image goes
// into the idle container, and the one that works keeps what it has.
func exchanging(p *cluster.Pod, change rules.TemplateChange) (rules.TemplateChange, []hotPair) {
	pairs := hotPairs(change.New.Template, p)
	if len(pairs) == 0 || change.Old.Template == nil {
		return change, nil
	}
	before, after := map[string]string{}, map[string]string{}
	var exchanged []hotPair
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
	each(out, func(name string, container map[string]any) {
		if image, ok := images[name]; ok {
			container["image"] = image
		}
	})
	return out
}

// hotOnly reports whether nothing restarts but containers that were idle: such a pod
// has no reason to leave its Services.
func hotOnly(spec rules.InPlaceSpec, pairs []hotPair) bool {
	for name := range spec.Images {
		if !slices.ContainsFunc(pairs, func(h hotPair) bool { return h.idle == name }) {
			return false
		}
	}
	return len(pairs) > 0 && len(spec.Refs) == 0 && len(spec.Resources) == 0
}

// beside tells the two containers of each pair of each other, as the new one starts.
func beside(change *cluster.PodChange, p *cluster.Pod, pairs []hotPair) {
	if len(pairs) == 0 {
		return
	}
	working := rules.WorkingContainers(p)
	for _, h := range pairs {
		working[h.sidecar] = h.idle
		number := strconv.Itoa(newestVersion(p, h) + 1)
		annotated(change, kruise.SidecarSetVersionAnnotationPrefix+h.idle, number)
		annotated(change, kruise.SidecarSetVersionAltAnnotationPrefix+h.working, number)
		annotated(change, kruise.SidecarSetVersionAltAnnotationPrefix+h.idle, p.Annotations[kruise.SidecarSetVersionAnnotationPrefix+h.working])
	}
	text, _ := json.Marshal(working) // texts only: it cannot fail
	annotated(change, kruise.SidecarSetWorkingHotUpgradeAnnotation, string(text))
}

// newestVersion is the higher of the versions of a pair: containers take the higher one
// for the newer.
func newestVersion(p *cluster.Pod, h hotPair) int {
	newest := 0
	for _, name := range []string{h.working, h.idle} {
		if n, err := strconv.Atoi(strings.TrimSpace(p.Annotations[kruise.SidecarSetVersionAnnotationPrefix+name])); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func annotated(change *cluster.PodChange, key, value string) {
	if change.Annotations == nil {
		change.Annotations = map[string]*string{}
	}
	change.Annotations[key] = &value
}

// unexchanged are the pairs of a pod with the new image whose other container still
// runs what was there before.
func unexchanged(template map[string]any, p *cluster.Pod) []hotPair {
	return slices.DeleteFunc(hotPairs(template, p), func(h hotPair) bool {
		idle, _ := p.Container(h.idle)
		return !h.current(p) || idle.Image == h.empty
	})
}

// empty empties containers whose successor works: a short update of its own, which no
// hook and no budget is asked about again, as the pod counts as down until it is over.
func (c *client) empty(p *cluster.Pod) {
	pairs := unexchanged(c.object().Template, p)
	if len(pairs) == 0 || !running(p) || !rules.InPlacePending(p, c.snap.report(p)).Done() {
		return
	}
	images := map[string]string{}
	for _, h := range pairs {
		images[h.idle] = h.empty
	}
	change := controller.InPlace{
		Spec: rules.InPlaceSpec{Images: images}, Revision: c.revision, Labels: map[string]string{revisionMark: c.revision},
	}.Start(p, c.now)
	for _, h := range pairs {
		annotated(&change, kruise.SidecarSetVersionAnnotationPrefix+h.idle, "0")
		annotated(&change, kruise.SidecarSetVersionAltAnnotationPrefix+h.working, "0")
	}
	c.write(p, change, "empty "+strings.Join(slices.Sorted(maps.Keys(images)), ", ")+" of "+p.Name)
}

// warnHot says which sidecars the client exchanges while they work: their new image
// starts in another container than the one that the change names.
func (b *builder) warnHot() {
	if b.plan.Driver != DriverClient || b.plan.Change.Mode != rules.ModeInPlace {
		return
	}
	for _, p := range b.snap.Pods {
		if !rules.Active(p) {
			continue
		}
		for _, h := range hotPairs(b.desired.Template, p) {
			if !h.current(p) {
				b.warning(exchangedHot, h.sidecar)
			}
		}
		return
	}
}

// exchangedHot is what a plan says of a sidecar that is upgraded hot.
const exchangedHot = "sidecar %s is exchanged hot: its new image starts beside the old one, which is emptied when the new one is ready; such a pod restarts one idle container, twice"
