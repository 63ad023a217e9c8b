package sidecar

import (
	"strings"
	"sync"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// notes reports findings: what concerns a set once, however many templates it
// meets.
type notes struct {
	findings *finding.Reporter
	from     map[string]*resource.Resource
	driver   stage.Driver
	mu       sync.Mutex
	seen     map[string]bool
}

func newNotes(c *stage.Context, from map[string]*resource.Resource) *notes {
	return &notes{findings: c.Findings, from: from, driver: c.Driver, seen: map[string]bool{}}
}

// set reports about the SidecarSet of this name.
func (n *notes) set(id, name, field, detail string) {
	key := id + "\x00" + name + "\x00" + detail
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.seen[key] {
		n.seen[key] = true
		n.findings.Add(id, n.from[name], field, detail)
	}
}

// injected reports what one template showed.
func (n *notes) injected(r *resource.Resource, t stage.Template, ns *namespace, choices []inject.Choice, out *inject.Result) {
	for _, c := range choices {
		name := c.Set.Name
		switch {
		case c.Outcome == inject.UnknownNamespace:
			n.set("sidecarset/namespace-unknown", name, "spec.namespaceSelector",
				"the labels of namespace "+ns.name+" are not known: nothing is injected there")
		case c.Content == nil:
			continue
		case ns.name == "kube-system":
			n.set("sidecarset/kube-system", name, "spec.namespaceSelector", "")
		}
		if c.Diced {
			n.set("sidecarset/partial", name, "spec.injectionStrategy.revision.policy", "")
		}
		if c.Content != nil && c.Content.HasResourcesPolicy() && !ns.limited {
			n.set("sidecarset/resources-policy", name, "spec.containers",
				"computed from the templates; the defaults of a LimitRange in namespace "+ns.name+", which Kruise would see, are not known")
		}
	}
	for _, e := range out.Excesses {
		n.set("sidecarset/requests-above-limits", e.Set, e.Field, Excess{Owner: r, Excess: e}.String())
	}
	if len(out.Replaced) > 0 {
		field := join(t.Path, "spec.containers")
		n.findings.Add("sidecarset/replaced-container", r, field, "replaced by the sidecars of the same names: "+strings.Join(out.Replaced, ", "))
		if out.Source {
			n.findings.Add("sidecarset/copied-from-replaced", r, field, "")
		}
	}
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

// written are the rules that apply wherever the field is given.
var written = []struct{ field, id string }{
	{"spec.selector", "sidecarset/scope"},
	{"spec.namespaceSelector", "sidecarset/namespaces"},
	{"spec.containers", "sidecarset/containers"},
	{"spec.initContainers", "sidecarset/init-containers"},
	{"spec.volumes", "sidecarset/volumes"},
	{"spec.imagePullSecrets", "sidecarset/pull-secrets"},
	{"spec.patchPodMetadata", "sidecarset/pod-metadata"},
	{"spec.injectionStrategy.paused", "sidecarset/paused"},
	{"spec.injectionStrategy.revision", "sidecarset/revision"},
	{"spec.customVersion", "sidecarset/custom-version"},
	{"spec.revisionHistoryLimit", "sidecarset/history"},
	{"spec.updateStrategy.paused", "sidecarset/update-paused"},
	{"spec.updateStrategy.partition", "sidecarset/update-partition"},
	{"spec.updateStrategy.maxUnavailable", "sidecarset/update-unavailable"},
	{"spec.updateStrategy.selector", "sidecarset/update-selector"},
	{"spec.updateStrategy.priorityStrategy", "sidecarset/update-order"},
	{"spec.updateStrategy.scatterStrategy", "sidecarset/update-order"},
}

// fields reports what becomes of the fields of a set that is used up.
func (n *notes) fields(r *resource.Resource) error {
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return r.Wrap(err, "")
	}
	n.findings.Add("sidecarset/update", r, "spec.updateStrategy.type", "")
	for _, w := range written {
		if stage.Written(hub, w.field) {
			n.findings.Add(w.id, r, w.field, "")
		}
	}
	n.hot(r, hub, "containers")
	n.hot(r, hub, "initContainers")
	return nil
}

// hot reports about sidecars that are to be exchanged while they work.
func (n *notes) hot(r *resource.Resource, hub *tree.Node, list string) {
	for _, c := range tree.Items(tree.Get(hub, "spec", list)) {
		sidecar := "sidecar " + tree.StrAt(c, "name") + ": the pair of containers is injected, "
		switch {
		case tree.StrAt(c, "upgradeStrategy", "upgradeType") != "HotUpgrade":
		case n.driver == stage.Client && list == "containers":
			n.findings.Add("sidecarset/hot-upgrade-client", r, "spec."+list, sidecar+
				"and rollouts by this client exchange them: in the pods of ReplicaSets and OnDelete sets; other workloads replace their pods")
		default:
			n.findings.Add("sidecarset/hot-upgrade", r, "spec."+list, sidecar+
				"but they are not swapped: a new image replaces the pods, as with ColdUpgrade")
		}
	}
}

// explain reports for every set why it was injected into the template or not.
func (s *injector) explain(r *resource.Resource, t stage.Template, choices []inject.Choice) {
	if s.Explain == nil {
		return
	}
	for _, c := range choices {
		e := stage.Explanation{
			Path: t.Path, SidecarSet: c.Set.Name,
			Injected: c.Outcome == inject.Injected, Reason: c.Why(),
		}
		if e.Injected && s.Admitted[c.Set.Name] != nil {
			e.Injected, e.Reason = false, "left to its policy: "+e.Reason
		}
		s.Explain.Add(r, e)
	}
}

func (s *injector) explainOutside(r *resource.Resource, t stage.Template, ns *namespace) {
	if s.Explain == nil {
		return
	}
	for _, set := range s.sets {
		s.Explain.Add(r, stage.Explanation{
			Path: t.Path, SidecarSet: set.Name,
			Reason: "namespace " + ns.name + " has the label " + kruise.OutsideLabel + ", so Kruise's webhook ignores it",
		})
	}
}
