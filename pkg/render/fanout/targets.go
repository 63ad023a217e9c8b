package fanout

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// systemNamespaces never get a copy (semantics fanout-and-jobs 3, targets 2).
var systemNamespaces = []string{"kube-public", "kube-system"}

// targets returns the namespaces that are to have a copy, sorted, in the order
// of semantics fanout-and-jobs 3: all, or the union of listed and selected;
// less the system's; less the excluded.
func (p *plan) targets(d *distribution) ([]string, error) {
	var names []string
	switch {
	case d.targets.AllNamespaces:
		if err := p.needNamespaces(d, "spec.targets.allNamespaces"); err != nil {
			return nil, err
		}
		names = slices.Clone(p.known.names)
	case d.selector != nil:
		if err := p.needNamespaces(d, d.selectorField()); err != nil {
			return nil, err
		}
		for _, name := range p.known.names {
			if d.selector.Matches(p.known.labels[name]) {
				names = append(names, name)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(systemNamespaces, name) })
	if !d.targets.AllNamespaces {
		names = append(names, p.listed(d)...)
	}
	excluded := map[string]bool{}
	for _, ns := range d.targets.ExcludedNamespaces.List {
		excluded[ns.Name] = true
	}
	names = slices.DeleteFunc(names, func(name string) bool { return excluded[name] })
	slices.Sort(names)
	return slices.Compact(names), nil
}

// needNamespaces refuses to take "none known" for "none there": an empty
// result could make a pruning apply delete every copy.
func (p *plan) needNamespaces(d *distribution, field string) error {
	if len(p.known.names) == 0 && !p.known.complete {
		return d.r.Fault(field, "give the namespaces with --with FILE (kubectl get namespaces -o yaml > FILE) or --live, or put Namespace objects into the input",
			"no namespace is known, so there is no saying where the copies go")
	}
	if !p.known.complete {
		p.c.Findings.Add("resourcedistribution/namespaces-of-input", d.r, field,
			fmt.Sprintf("only the namespaces in the input are known (%s); others of the cluster get no copy", list(p.known.names)))
	}
	return nil
}

// listed returns the included names that can get a copy, and reports the rest.
func (p *plan) listed(d *distribution) []string {
	var take, missing, unknown, system []string
	for _, ns := range d.targets.IncludedNamespaces.List {
		exists, known := p.known.has(ns.Name)
		switch {
		case slices.Contains(systemNamespaces, ns.Name):
			system = append(system, ns.Name)
		case exists:
			take = append(take, ns.Name)
		case known || len(validation.IsDNS1123Label(ns.Name)) > 0:
			missing = append(missing, ns.Name)
		default:
			take, unknown = append(take, ns.Name), append(unknown, ns.Name)
		}
	}
	const field = "spec.targets.includedNamespaces"
	report := func(rule string, names []string, format string) {
		if len(names) > 0 {
			p.c.Findings.Add("resourcedistribution/"+rule, d.r, field, fmt.Sprintf(format, list(names)))
		}
	}
	report("system-namespace", system, "%s: system namespaces never get a copy (in Kruise v1.9.0 and earlier they did)")
	report("namespace-missing", missing, "%s: no such namespace, or it is being deleted; no copy is made there")
	report("namespace-unknown", unknown, "%s: whether the namespace exists is not known; it gets a copy")
	return take
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
