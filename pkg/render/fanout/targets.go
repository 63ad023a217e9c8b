package fanout

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// targets returns the namespaces that are to have a copy, sorted, as far as they can.
func (p *plan) targets(d *distribution) ([]string, error) {
	field := ""
	switch {
	case d.targets.AllNamespaces:
		field = "spec.targets.allNamespaces"
	case d.selector != nil:
		field = d.selectorField()
	}
	if field != "" {
		if err := p.needNamespaces(d, field); err != nil {
			return nil, err
		}
	}
	names, err := d.targets.Names(p.known.candidates(d), p.c.Kruise)
	if err != nil || d.targets.AllNamespaces {
		return names, err
	}
	missing := p.listed(d)
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(missing, name) }), nil
}

// needNamespaces refuses to take "none known" for "none there": an empty
// result could make a pruning apply delete every copy.
func (p *plan) needNamespaces(d *distribution, field string) error {
	if len(p.known.names) == 0 && !p.known.complete {
		return d.r.Fault(field, "give the namespaces with --with FILE (kubectl get namespaces -o yaml > FILE) or --live, or put Namespace objects into the input",
			"no namespace is known, so the targets of the copies are unknown")
	}
	if !p.known.complete {
		p.c.Findings.Add("resourcedistribution/namespaces-of-input", d.r, field,
			fmt.Sprintf("only the namespaces in the input are known (%s); others of the cluster get no copy", p.known.text))
	}
	return nil
}

// listed reports the included names that get no copy, or may not, and returns those
// that do not exist.
func (p *plan) listed(d *distribution) (missing []string) {
	var unknown, system []string
	for _, ns := range d.targets.IncludedNamespaces.List {
		exists, known := p.known.has(ns.Name)
		switch {
		case slices.Contains(p.c.Kruise.SystemNamespaces(), ns.Name):
			system = append(system, ns.Name)
		case exists:
		case known || len(validation.IsDNS1123Label(ns.Name)) > 0:
			missing = append(missing, ns.Name)
		default:
			unknown = append(unknown, ns.Name)
		}
	}
	const field = "spec.targets.includedNamespaces"
	report := func(rule string, names []string, format string) {
		if len(names) > 0 {
			p.c.Findings.Add("resourcedistribution/"+rule, d.r, field, fmt.Sprintf(format, list(names)))
		}
	}
	report("system-namespace", system, "%s: system namespaces never get a copy (up to Kruise 1.9 they do)")
	report("namespace-missing", missing, "%s: no such namespace, or it is being deleted; it gets no copy")
	report("namespace-unknown", unknown, "%s: whether the namespace exists is not known; it gets a copy")
	return missing
}

// list names up to ten, sorted and without repetitions.
func list(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > 0 && names[0] == "" {
		names[0] = `""`
	}
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// namespaces is what is known of the cluster's namespaces.
type namespaces struct {
	// names are those that can hold a copy, sorted.
	names []string
	// labels are theirs, as the API server shows them.
	labels map[string]labels.Set
	// text names some of them, index finds those that a selector may match.
	text  string
	index *kruise.LabelIndex
	// terminating are those on their way out.
	terminating map[string]bool
	// complete: the context holds an inventory, so what is neither there nor in
	// the input does not exist. Namespace objects of the input alone prove
	// nothing, since in many repositories namespaces are managed elsewhere.
	complete bool
}

func knownNamespaces(f *resource.Facts) namespaces {
	n := namespaces{labels: map[string]labels.Set{}, terminating: map[string]bool{}}
	n.complete = len(f.Context("", "Namespace")) > 0
	for _, r := range f.All("", "Namespace") {
		if tree.Get(r.Node(), "metadata", "deletionTimestamp") != nil {
			n.terminating[r.Name()] = true
		}
	}
	for _, name := range f.Namespaces() {
		if !n.terminating[name] {
			n.names = append(n.names, name)
			n.labels[name], _ = f.NamespaceLabels(name)
		}
	}
	n.text = list(n.names)
	n.index = kruise.NewLabelIndex(len(n.names), func(i int) map[string]string { return n.labels[n.names[i]] })
	return n
}

// candidates are the namespaces that a distribution may choose without naming them.
func (n namespaces) candidates(d *distribution) map[string]labels.Set {
	if d.targets.AllNamespaces {
		return n.labels
	}
	out := map[string]labels.Set{}
	if d.selector != nil {
		for _, place := range n.index.Candidates(d.selector) {
			out[n.names[place]] = n.labels[n.names[place]]
		}
	}
	return out
}

// has reports whether a copy can go to the namespace; known is false when
// it is not known.
func (n namespaces) has(name string) (exists, known bool) {
	if _, ok := slices.BinarySearch(n.names, name); ok {
		return true, true
	}
	if name == resource.DefaultNamespace {
		return true, true // no API server is without it
	}
	return false, n.complete || n.terminating[name]
}
