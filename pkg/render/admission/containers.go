package admission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
)

// containers merges pieces into a list of the pod: one of a name that is there
// replaces it at its place, the others go to the front or the back
// (docs/kruise/sidecarset.md#merging-containers). Everything behind is put in before anything in
// front, and the last before the first, so that places count in the list as it came.
func (b *builder) containers(field string, list []inject.Piece) {
	if len(list) == 0 {
		return
	}
	if field == "initContainers" {
		b.patch.List(field)
	}
	names := b.variable(map[string]string{"containers": "names", "initContainers": "initNames"}[field], pod(field)+".map(c, c.name)")
	for _, p := range list {
		at := fmt.Sprintf("%s + string(%s.lastIndexOf(%s))", policy.Quote(policy.Pointer("spec", field)+"/"), names, policy.Quote(p.Name))
		b.patch.When(policy.Quote(p.Name)+" in "+names, policy.Op("replace", at, b.container(p)))
	}
	for _, front := range []bool{false, true} {
		for _, p := range slices.Backward(list) {
			if p.Front == front {
				b.patch.When("!("+policy.Quote(p.Name)+" in "+names+")", policy.Op("add", b.place(field, names, p), b.container(p)))
			}
		}
	}
}

// pod is CEL for a list of the pod's spec.
func pod(field string) string {
	if field == "containers" {
		return "object.spec.containers"
	}
	return "object.spec.?" + field + ".orValue([])"
}

// place is the JSON pointer, as CEL, at which a new container goes in: at its end
// of the list, but on the far side of the peers that stand between.
func (b *builder) place(field, names string, p inject.Piece) string {
	path := policy.Pointer("spec", field) + "/"
	between := b.peers.nextTo(field, p)
	switch {
	case p.Front && len(between) == 0:
		return policy.Quote(path + "0")
	case len(between) == 0:
		return fmt.Sprintf("%s + string(%s.size())", policy.Quote(path), names)
	}
	others := fmt.Sprintf("[%s.filter(c, !(c.name in %s && %s))]", pod(field), policy.Strings(between), injected)
	if p.Front {
		return fmt.Sprintf("%s + string(%s.map(l, l.size() == 0 ? %s.size() : %s.indexOf(l[0].name))[0])", policy.Quote(path), others, names, names)
	}
	return fmt.Sprintf("%s + string(%s.map(l, l.size() == 0 ? 0 : %s.lastIndexOf(l[l.size() - 1].name) + 1)[0])", policy.Quote(path), others, names)
}

// injected is CEL that tells whether container c was put in by a SidecarSet: only
// the first env of that name counts.
var injected = fmt.Sprintf(`c.?env.orValue([]).filter(e, e.name == %q)[?0].?value.orValue("") == "true"`, kruise.SidecarInjectedEnv)

// container is CEL for a piece.
func (b *builder) container(p inject.Piece) string {
	name := policy.Identifier("sidecar", p.Name)
	if p.Copies == nil {
		return b.variable(name, policy.Literal(p.Node))
	}
	own := tree.Items(tree.Get(p.Node, "env"))
	split := len(own) - p.Copies.Behind
	fields := map[string]string{}
	if env := b.env(p, own[:split]); env != "" {
		fields["env"] = around(own[:split], env, own[split:])
	}
	for _, list := range []struct {
		field string
		cel   string
	}{{"volumeMounts", b.mounts(p)}, {"volumeDevices", b.devices(p)}} {
		if list.cel != "" {
			fields[list.field] = around(tree.Items(tree.Get(p.Node, list.field)), list.cel, nil)
		}
	}
	return b.variable(name, policy.Object(p.Node, fields))
}

// around is CEL for a list with others in front and behind.
func around(before []*tree.Node, list string, behind []*tree.Node) string {
	terms := []string{"dyn(" + list + ")"}
	if len(before) > 0 {
		terms = slices.Insert(terms, 0, "dyn("+policy.Literal(tree.Seq(before...))+")")
	}
	if len(behind) > 0 {
		terms = append(terms, "dyn("+policy.Literal(tree.Seq(behind...))+")")
	}
	return strings.Join(terms, " + ")
}
