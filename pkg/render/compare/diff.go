package compare

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// step is one step of a path: a key of a map, or an item of a list, which has a
// name where it is known by one.
type step struct {
	key  string
	name string
	item bool
}

// difference is one place where two forms differ. A nil side has nothing there.
type difference struct {
	path []step
	// old and now lead to the place on each side, by keys and positions.
	old, now []string
	from, to any
}

// differ compares the forms of one kind.
type differ struct {
	kind string
	out  []difference
}

// place is the position of the comparison.
type place struct {
	path     []step
	old, now []string
}

func (p place) key(key string) place {
	return place{append(slices.Clip(p.path), step{key: key}), append(slices.Clip(p.old), key), append(slices.Clip(p.now), key)}
}

// item goes to items of a list; a position of -1 is that of the other side.
func (p place) item(name string, old, now int) place {
	old, now = max(old, 0), max(now, 0)
	return place{
		append(slices.Clip(p.path), step{key: strconv.Itoa(max(old, now)), name: name, item: true}),
		append(slices.Clip(p.old), strconv.Itoa(old)), append(slices.Clip(p.now), strconv.Itoa(now)),
	}
}

func (p place) last() string {
	if len(p.path) == 0 {
		return ""
	}
	return p.path[len(p.path)-1].key
}

func (d *differ) compare(p place, old, now any) {
	o, oldMap := old.(map[string]any)
	n, nowMap := now.(map[string]any)
	if oldMap && nowMap || (oldMap && now == nil || nowMap && old == nil) && isOpenMap(p) {
		d.maps(p, o, n)
		return
	}
	a, oldList := old.([]any)
	b, nowList := now.([]any)
	switch {
	case oldList && nowList:
		d.lists(p, a, b)
	case isEmptyValue(old) && isEmptyValue(now) || d.same(p, old, now):
	default:
		d.out = append(d.out, difference{path: p.path, old: p.old, now: p.now, from: old, to: now})
	}
}

// isOpenMap reports whether a map is looked into although the other side has none:
// there each key is one thing of its own.
func isOpenMap(p place) bool {
	switch p.last() {
	case "", "metadata", "labels", "annotations", "data", "binaryData", "spec":
		return true
	}
	return false
}

// isEmptyValue reports whether a value is as good as none.
func isEmptyValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	}
	return false
}

func (d *differ) maps(p place, old, now map[string]any) {
	keys := make(map[string]bool, max(len(old), len(now)))
	for key := range old {
		keys[key] = true
	}
	for key := range now {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		d.compare(p.key(key), old[key], now[key])
	}
}

// same compares leaves: numbers by value, quantities by amount.
func (d *differ) same(p place, old, now any) bool {
	if x, ok := number(old); ok {
		if y, ok := number(now); ok {
			return x == y
		}
	}
	if reflect.DeepEqual(old, now) {
		return true
	}
	if !amounts(p) || inTemplate(p) {
		return false
	}
	a, err := tree.Quantity(text(old))
	b, failed := tree.Quantity(text(now))
	return err == nil && failed == nil && a.Cmp(b) == 0
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// amounts reports whether the values at a place are quantities.
func amounts(p place) bool {
	if p.last() == "storage" || p.last() == "sizeLimit" {
		return true
	}
	if len(p.path) < 2 {
		return false
	}
	switch p.path[len(p.path)-2].key {
	case "limits", "requests", "hard", "capacity", "default", "defaultRequest", "min", "max", "overhead":
		return true
	}
	return false
}

// inTemplate: there every letter counts, as it makes another revision.
func inTemplate(p place) bool {
	return slices.ContainsFunc(p.path, func(s step) bool { return s.key == "template" && !s.item })
}

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
	before, after := placesOf(names), placesOf(others)
	for i, name := range names {
		if j, there := after[name]; there {
			d.compare(p.item(name, i, j), old[i], now[j])
		} else {
			d.compare(p.item(name, i, -1), old[i], nil)
		}
	}
	for j, name := range others {
		if _, there := before[name]; !there {
			d.compare(p.item(name, -1, j), nil, now[j])
		}
	}
	if !d.sorted(p) {
		d.order(p, common(names, after), common(others, before))
	}
}

// placesOf are the positions of names, of which none is there twice.
func placesOf(names []string) map[string]int {
	out := make(map[string]int, len(names))
	for i, name := range names {
		out[name] = i
	}
	return out
}

// common are the names of a list that another has, too.
func common(list []string, other map[string]int) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { _, there := other[name]; return !there })
}

// order reports items that only moved.
func (d *differ) order(p place, old, now []string) {
	if !slices.Equal(old, now) {
		at := p.key("(order)")
		d.out = append(d.out, difference{path: at.path, old: at.old, now: at.now, from: strings.Join(old, ", "), to: strings.Join(now, ", ")})
	}
}

// sets compares lists as sets, in which an item may occur several times.
func (d *differ) sets(p place, old, now []any) {
	left := map[string]int{}
	for _, item := range old {
		left[canonical(item)]++
	}
	var gone, came []int
	for j, item := range now {
		if key := canonical(item); left[key] > 0 {
			left[key]--
		} else {
			came = append(came, j)
		}
	}
	for i, item := range old {
		if key := canonical(item); left[key] > 0 {
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

// canonical is an item as text that is the same for equal items: the order of lists
// inside it, such as the verbs of a rule, counts as little.
func canonical(item any) string {
	switch v := item.(type) {
	case masked:
		return v.content
	case map[string]any:
		parts := make([]string, 0, len(v))
		for key, inner := range v {
			parts = append(parts, key+":"+canonical(inner))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, "\x00") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, inner := range v {
			parts[i] = canonical(inner)
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

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// pathText writes a path for people, items by their names where they have some:
// spec.template.spec.containers[app].image, metadata.annotations["a.b/c"].
func pathText(path []step) string {
	var out strings.Builder
	for _, s := range path {
		switch {
		case s.name != "":
			out.WriteString("[" + s.name + "]")
		case s.item:
			out.WriteString("[" + s.key + "]")
		case s.key == "(order)":
			out.WriteString(" " + s.key)
		case !plainKey.MatchString(s.key):
			out.WriteString("[" + strconv.Quote(s.key) + "]")
		case out.Len() > 0:
			out.WriteString("." + s.key)
		default:
			out.WriteString(s.key)
		}
	}
	return out.String()
}

// fields writes differences for people, with what is secret masked. effects are
// what fields ask for, by their path below template, which may be empty.
func fields(list []difference, old, now map[string]any, template string, effects []rules.FieldChange) []Field {
	byPath := make(map[string]rules.FieldChange, len(effects))
	for _, e := range effects {
		byPath[e.Path] = e
	}
	out := make([]Field, 0, len(list))
	for _, d := range list {
		f := Field{Path: pathText(d.path), Old: shown(d.old, d.from, old), New: shown(d.now, d.to, now)}
		if below, ok := strings.CutPrefix(positions(d.now), template); ok {
			e := byPath[below]
			if items, order := strings.CutSuffix(below, " (order)"); order { // whatever its items do
				e = rules.FieldChange{}
				for _, item := range effects {
					if strings.HasPrefix(item.Path, items+"[") {
						e = item
					}
				}
			}
			f.Effect, f.Why = e.Effect, e.Why
		}
		out = append(out, f)
	}
	return out
}

// positions writes a path by positions, as the rules of rollouts do.
func positions(path []string) string {
	steps := make([]step, len(path))
	for i, key := range path {
		_, err := strconv.Atoi(key)
		steps[i] = step{key: key, item: err == nil}
	}
	return pathText(steps)
}
