package compare

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
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

// diff lists what differs, in the order of keys.
func diff(kind string, old, now map[string]any) []difference {
	d := &differ{kind: kind}
	d.compare(place{}, old, now)
	return d.out
}

// place is where the comparison stands.
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
	if oldMap && nowMap || (oldMap && now == nil || nowMap && old == nil) && opens(p) {
		d.maps(p, o, n)
		return
	}
	a, oldList := old.([]any)
	b, nowList := now.([]any)
	switch {
	case oldList && nowList:
		d.lists(p, a, b)
	case nothing(old) && nothing(now) || d.same(p, old, now):
	default:
		d.out = append(d.out, difference{path: p.path, old: p.old, now: p.now, from: old, to: now})
	}
}

// opens reports whether a map is looked into although the other side has none:
// there each key is one thing of its own.
func opens(p place) bool {
	switch p.last() {
	case "", "metadata", "labels", "annotations", "data", "binaryData", "spec":
		return true
	}
	return false
}

// nothing reports whether a value is as good as none.
func nothing(v any) bool {
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
	return amounts(p) && !inTemplate(p) && sameAmount(old, now)
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

// amounts reports whether quantities stand at a place.
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

func sameAmount(old, now any) bool {
	a, ok := quantity(text(old))
	b, both := quantity(text(now))
	return ok && both && a.Cmp(b) == 0
}

func quantity(text string) (resource.Quantity, bool) {
	q, err := tree.Quantity(text)
	return q, err == nil
}
