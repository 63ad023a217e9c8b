package plan

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

type sidecarSetKind struct {
	kruised
	settled
	o *kruise.SidecarSet
}

func (kinds) SidecarSet(o *kruise.SidecarSet) kind { return sidecarSetKind{o: o} }

func (k sidecarSetKind) subject(b *builder) subject { return b.sidecarSet(k.o) }

// restarted is none: the pods are those of others.
func (sidecarSetKind) restarted(any) kruiseSpec { return nil }

func (k sidecarSetKind) carrying(r *run) func(*cluster.Pod) bool {
	set := &rules.SidecarSet{Name: k.o.Name, Hash: r.object().Annotations[kruise.SidecarSetHashAnnotation]}
	return set.Updated
}

func (k sidecarSetKind) choice(b *builder, _ time.Time, brief bool) rules.Choice {
	set := b.sidecarSetRules(k.o)
	set.Brief = brief
	return set.ChooseUpdate().Choice
}

func (k sidecarSetKind) stepPending(r *run) rules.Pending {
	return r.snap.sidecars(r.object(), k.o).Pending(k.o)
}

func (k sidecarSetKind) stop(*run) (StopField, string) { return pausedUnlessSo(k.o) }

func (sidecarSetKind) surges() bool       { return false }
func (sidecarSetKind) ordering() []string { return nil }

// revised are the fields that come into pods, so that another partition is no other
// template.
func (sidecarSetKind) revised(template map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range rules.SidecarSetFields() {
		if v, ok := template[field]; ok && v != nil {
			out[field] = v
		}
	}
	return out
}

// withTemplate puts the fields that come into pods into the present spec.
func (k sidecarSetKind) withTemplate(whole, stored map[string]any) (map[string]any, any, error) {
	out := maps.Clone(whole)
	for _, field := range rules.SidecarSetFields() {
		delete(out, field)
		if v, ok := stored[field]; ok && v != nil {
			out[field] = v
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, nil, err
	}
	c := *k.o
	c.Spec = kruise.SidecarSetSpec{}
	return out, &c, json.Unmarshal(text, &c.Spec)
}
