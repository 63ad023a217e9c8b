package compare

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// unordered are lists whose order means nothing, by GROUP/KIND; "" is every kind.
// Items of lists are marked with [].
var unordered = map[string][]string{
	"":                                      {"metadata.finalizers", "metadata.ownerReferences"},
	"/PersistentVolume":                     {"spec.accessModes"},
	"/PersistentVolumeClaim":                {"spec.accessModes"},
	"/Service":                              {"spec.externalIPs", "spec.loadBalancerSourceRanges", "spec.ports"},
	"/ServiceAccount":                       {"imagePullSecrets", "secrets"},
	"/LimitRange":                           {"spec.limits"},
	"rbac.authorization.k8s.io/ClusterRole": roleLists,
	"rbac.authorization.k8s.io/ClusterRoleBinding": {"subjects"},
	"rbac.authorization.k8s.io/Role":               roleLists,
	"rbac.authorization.k8s.io/RoleBinding":        {"subjects"},
	"autoscaling/HorizontalPodAutoscaler":          {"spec.metrics"},
	"networking.k8s.io/NetworkPolicy": {
		"spec.egress", "spec.egress[].ports", "spec.egress[].to", "spec.ingress", "spec.ingress[].from", "spec.ingress[].ports", "spec.policyTypes",
	},
	"apps.kruise.io/ResourceDistribution": {"spec.targets.excludedNamespaces.list", "spec.targets.includedNamespaces.list"},
}

var roleLists = []string{"rules", "rules[].apiGroups", "rules[].nonResourceURLs", "rules[].resourceNames", "rules[].resources", "rules[].verbs"}

// sorted reports whether the order of the list at a place means nothing.
func (d *differ) sorted(p place) bool {
	var at strings.Builder
	for i, s := range p.path {
		switch {
		case s.item:
			at.WriteString("[]")
		case i > 0:
			at.WriteString("." + s.key)
		default:
			at.WriteString(s.key)
		}
	}
	path := at.String()
	if slices.Contains(unordered[""], path) || slices.Contains(unordered[d.kind], path) {
		return true
	}
	// The requirements of a selector, and the values of each.
	return !inTemplate(p) && (p.last() == "matchExpressions" ||
		p.last() == "values" && len(p.path) > 2 && p.path[len(p.path)-3].key == "matchExpressions")
}

// lists compares two lists: items by their names where they have such, as sets
// where order means nothing, by position otherwise.
func (d *differ) lists(p place, old, now []any) {
	names, ok := namesOf(old)
	others, both := namesOf(now)
	switch {
	case ok && both && len(old)+len(now) > 0:
		d.named(p, old, now, names, others)
	case d.sorted(p):
		d.sets(p, old, now)
	default:
		d.positions(p, old, now)
	}
}

// namesOf are the names of all items; ok is false unless each has its own.
func namesOf(list []any) (names []string, ok bool) {
	seen := map[string]bool{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		if meta, inner := m["metadata"].(map[string]any); name == "" && inner {
			name, _ = meta["name"].(string)
		}
		if name == "" || seen[name] {
			return nil, false
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, true
}

func (d *differ) named(p place, old, now []any, names, others []string) {
	for i, name := range names {
		if j := slices.Index(others, name); j >= 0 {
			d.compare(p.item(name, i, j), old[i], now[j])
		} else {
			d.compare(p.item(name, i, -1), old[i], nil)
		}
	}
	for j, name := range others {
		if !slices.Contains(names, name) {
			d.compare(p.item(name, -1, j), nil, now[j])
		}
	}
	if !d.sorted(p) {
		d.order(p, common(names, others), common(others, names))
	}
}

// common are the names of one list that the other has, too.
func common(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !slices.Contains(other, name) })
}

// order reports items that only moved.
func (d *differ) order(p place, old, now []string) {
	if !slices.Equal(old, now) {
		at := p.key("(order)")
		d.out = append(d.out, difference{path: at.path, old: at.old, now: at.now, from: strings.Join(old, ", "), to: strings.Join(now, ", ")})
	}
}

// sets compares lists as sets, in which an item may stand several times.
func (d *differ) sets(p place, old, now []any) {
	left := map[string]int{}
	for _, item := range old {
		left[spelt(item)]++
	}
	var gone, came []int
	for j, item := range now {
		if key := spelt(item); left[key] > 0 {
			left[key]--
		} else {
			came = append(came, j)
		}
	}
	for i, item := range old {
		if key := spelt(item); left[key] > 0 {
			left[key]--
			gone = append(gone, i)
		}
	}
	d.remaining(p, old, now, gone, came)
}

// remaining compares the items that only one side has. As many on both sides are
// taken for the same ones, changed.
func (d *differ) remaining(p place, old, now []any, gone, came []int) {
	if len(gone) == len(came) {
		for k := range gone {
			d.compare(p.item("", gone[k], came[k]), old[gone[k]], now[came[k]])
		}
		return
	}
	for _, i := range gone {
		d.compare(p.item("", i, -1), old[i], nil)
	}
	for _, j := range came {
		d.compare(p.item("", -1, j), nil, now[j])
	}
}

// spelt is an item as text that is the same for equal items: the order of lists
// inside it, such as the verbs of a rule, counts as little.
func spelt(item any) string {
	switch v := item.(type) {
	case sealed:
		return v.content
	case map[string]any:
		parts := make([]string, 0, len(v))
		for key, inner := range v {
			parts = append(parts, key+":"+spelt(inner))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, "\x00") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, inner := range v {
			parts[i] = spelt(inner)
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, "\x00") + "]"
	}
	b, err := json.Marshal(item)
	if err != nil {
		return ""
	}
	return string(b)
}

// positions compares item by item what is left when both ends that agree are
// taken off; an item that came in between is one addition, not a change of all
// that follow.
func (d *differ) positions(p place, old, now []any) {
	head := 0
	for head < min(len(old), len(now)) && reflect.DeepEqual(old[head], now[head]) {
		head++
	}
	tail := 0
	for tail < min(len(old), len(now))-head && reflect.DeepEqual(old[len(old)-1-tail], now[len(now)-1-tail]) {
		tail++
	}
	before, after := old[head:len(old)-tail], now[head:len(now)-tail]
	for i := range max(len(before), len(after)) {
		switch {
		case i >= len(before):
			d.compare(p.item("", -1, head+i), nil, after[i])
		case i >= len(after):
			d.compare(p.item("", head+i, -1), before[i], nil)
		default:
			d.compare(p.item("", head+i, head+i), before[i], after[i])
		}
	}
}
