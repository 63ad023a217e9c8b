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

// place is the JSON pointer, as CEL, at which a new container goes in: at its end of the list, but
// beyond the peers in between.
func (b *builder) place(field, names string, p inject.Piece) string {
	path := policy.Pointer("spec", field) + "/"
	between := b.peers.neighbours(field, p)
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

// injected returns a CEL expression for whether a SidecarSet injected container c: only the first
// env of that name counts.
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

// The API server can make JSON of plain lists and mappings, but from 1.37 not of
// the pod's own: what is copied is taken apart and put together again.
const (
	plain    = "%[1]s.transformMap(k, v, v)"
	plainEnv = `%[1]s.transformMap(k, v, k == "valueFrom" ? dyn(v.transformMap(f, w, w.transformMap(g, x, x))) : dyn(v))`
)

// distinctElements is CEL for the elements of a list, copied, of which the key is not taken
// and did not come before. further is a condition on element i, or "".
func distinctElements(list, key string, taken []string, further, copied string) string {
	item := list + "[i]"
	return fmt.Sprintf("lists.range(%[1]s.size()).filter(i, !(%[2]s.%[3]s in %[4]s) && %[1]s.map(x, x.%[3]s).indexOf(%[2]s.%[3]s) == i%[5]s).map(i, %[6]s)",
		list, item, key, policy.Strings(taken), further, fmt.Sprintf(copied, item))
}

// lastNamed is CEL for the last env of each name, where there is one.
func lastNamed(env string) string {
	return fmt.Sprintf("%s.filter(l, l.size() > 0).map(l, l[l.size() - 1])", env)
}

// env is what a piece copies: transferEnv first, then what the sub-paths of shared
// mounts refer to; the sidecar's own beats it, and the first beats later ones.
func (b *builder) env(p inject.Piece, own []*tree.Node) string {
	var terms []string
	for _, e := range p.Copies.Env {
		env := fmt.Sprintf("%s.filter(c, c.name == %s)[?0].?env.orValue([])", b.origins(), b.source(e))
		terms = append(terms, lastNamed(fmt.Sprintf("%s.map(n, %s.filter(e, e.name == n))", policy.Strings(e.Names), env)))
	}
	if p.Copies.Mounts {
		terms = append(terms, b.references())
	}
	if len(terms) == 0 {
		return ""
	}
	found := b.variable(policy.Identifier("found", p.Sidecar), strings.Join(terms, " +\n"))
	return b.variable(policy.Identifier("env", p.Sidecar), distinctElements(found, "name", values(own, "name"), "", plainEnv))
}

// source is CEL for the name of the container that env come from. Annotations are
// those that patchPodMetadata leaves.
func (b *builder) source(e inject.EnvCopy) string {
	switch e.List {
	case "":
		return policy.Quote(e.Container)
	case "labels":
		return fmt.Sprintf(`object.metadata.?labels[?%s].orValue("")`, policy.Quote(e.Key))
	}
	present := fmt.Sprintf("%s[?%s]", b.podAnnotations(), policy.Quote(e.Key))
	for _, p := range b.set.AnnotationPatches() {
		switch {
		case p.Key != e.Key:
		case p.Policy == kruise.SidecarSetOverwritePatchPolicy:
			return policy.Quote(p.Value)
		case p.Policy == kruise.SidecarSetRetainPatchPolicy:
			return fmt.Sprintf("%s.orValue(%s)", present, policy.Quote(p.Value))
		}
	}
	return present + `.orValue("")`
}

// ownContainersExpression returns a CEL expression for whether this set has injected container c
// before, into a template.
func (b *builder) ownContainersExpression() string {
	return fmt.Sprintf("(%s in %s && c.name in %s)", policy.Quote(b.set.Set), b.injectedSets(), policy.Strings(b.own))
}

// origins are the containers that transferEnv may name: all but the set's own and
// those of its peers.
func (b *builder) origins() string {
	cel := "!" + b.ownContainersExpression()
	if len(b.peers.all) > 0 {
		cel += fmt.Sprintf(" && !(c.name in %s && %s)", policy.Strings(b.peers.all), injected)
	}
	return b.variable("origins", "object.spec.containers.filter(c, "+cel+")")
}

// apps are the containers that share their volumes.
func (b *builder) apps() string {
	return b.variable("apps", fmt.Sprintf("object.spec.containers.filter(c, !%s && !(%s))", b.ownContainersExpression(), injected))
}

// references are the env that the sub-paths of the apps' mounts name.
func (b *builder) references() string {
	refs := fmt.Sprintf(`m.?subPathExpr.orValue("").findAll(%s)`, policy.Quote(inject.ReferencePattern))
	env := lastNamed(refs + ".map(r, c.?env.orValue([]).filter(e, e.name == r.substring(2, r.size() - 1)))")
	return b.variable("references", fmt.Sprintf("%s.map(c, c.?volumeMounts.orValue([]).map(m, %s).flatten()).flatten()", b.apps(), env))
}

// mounts is CEL for the mounts that a piece shares, "" for none.
func (b *builder) mounts(p inject.Piece) string {
	if !p.Copies.Mounts {
		return ""
	}
	all := b.variable("mounts", b.apps()+".map(c, c.?volumeMounts.orValue([])).flatten()")
	return b.variable(policy.Identifier("mounts", p.Sidecar), distinctElements(all, "mountPath", paths(p), "", plain))
}

// devices is CEL for the devices that a piece shares, "" for none.
func (b *builder) devices(p inject.Piece) string {
	if !p.Copies.Devices {
		return ""
	}
	further := ""
	if mounts := b.mounts(p); mounts != "" {
		further = fmt.Sprintf(" && !(%s.exists(m, m.mountPath == variables.devices[i].devicePath))", mounts)
	}
	all := b.variable("devices", b.apps()+".map(c, c.?volumeDevices.orValue([])).flatten()")
	return b.variable(policy.Identifier("devices", p.Sidecar), distinctElements(all, "devicePath", paths(p), further, plain))
}

// paths are those that the sidecar's own mounts and devices take.
func paths(p inject.Piece) []string {
	return append(values(tree.Items(tree.Get(p.Node, "volumeMounts")), "mountPath"),
		values(tree.Items(tree.Get(p.Node, "volumeDevices")), "devicePath")...)
}

func values(list []*tree.Node, field string) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = tree.StrAt(n, field)
	}
	return out
}
