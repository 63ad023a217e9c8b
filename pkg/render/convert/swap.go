package convert

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lower"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// directionOf returns the way that an object goes, if it goes any.
func (o Options) directionOf(r *resource.Resource) (direction, bool) {
	way, ok := o.of(r)
	return way, ok && (len(o.Names) == 0 || slices.Contains(o.Names, r.Name())) && (o.Selector == nil || o.Selector.Matches(labels.Set(r.Labels())))
}

// piece is one object before and after.
type piece struct {
	way    direction
	was    *resource.Resource
	become *resource.Resource
}

// convertObjects converts the objects that go somewhere, by the rules alone.
func (o Options) convertObjects(c *stage.Context, in []*resource.Resource, goes func(*resource.Resource) (direction, bool)) ([]*resource.Resource, []piece, error) {
	going := map[*resource.Resource]direction{}
	var faults resource.Errors
	for _, r := range in {
		way, ok := goes(r)
		if ok {
			going[r] = way
		}
		if ok && r.Is(kruise.Group, kruise.KindAdvancedCronJob) && tree.Get(r.Node(), "spec", "template", "jobTemplate") == nil {
			faults.Add(counterpartFault(r, way, "Jobs that depend on nodes and images"))
		}
	}
	if err := faults.Err(); err != nil {
		return nil, nil, err
	}
	towards := func(up bool) func(*resource.Resource) bool {
		return func(r *resource.Resource) bool {
			way, ok := going[r]
			return ok && way.toKruise() == up
		}
	}
	out, err := lower.RunChosen(c, in, towards(false))
	if err != nil {
		return nil, nil, err
	}
	if out, err = raise(c, out, towards(true), o.Raise); err != nil {
		return nil, nil, err
	}
	pieces, err := matchPieces(in, out, going)
	return out, pieces, err
}

// matchPieces finds what each object became: one of its counterpart's kind.
func matchPieces(in, out []*resource.Resource, going map[*resource.Resource]direction) ([]piece, error) {
	made := map[int][]*resource.Resource{}
	given := map[*resource.Resource]bool{}
	for _, r := range in {
		given[r] = true
	}
	for _, r := range out {
		if !given[r] {
			made[r.Origin.Seq] = append(made[r.Origin.Seq], r)
		}
	}
	var pieces []piece
	var faults resource.Errors
	for _, r := range in {
		way, ok := going[r]
		if !ok {
			continue
		}
		became := made[r.Origin.Seq]
		if len(became) != 1 || !way.to.is(became[0]) {
			faults.Add(counterpartFault(r, way, names(became)))
			continue
		}
		p := piece{way: way, was: r, become: became[0]}
		p.unmark()
		pieces = append(pieces, p)
	}
	return pieces, faults.Err()
}

// counterpartFault returns why an object of Kruise cannot become an object of the counterpart's
// kind.
func counterpartFault(r *resource.Resource, way direction, became string) error {
	field, hint := "spec", ""
	switch r.Kind() {
	case kruise.KindCloneSet:
		field, hint = "spec.volumeClaimTemplates", "a Deployment's pods have no claims of their own: 'kubectl kruise render' makes a StatefulSet"
	case kruise.KindAdvancedCronJob:
		field, hint = "spec.template", "only a jobTemplate fits into a CronJob: `kubectl kruise render` makes a CronJob for each node"
	case kruise.KindPodUnavailableBudget:
		field, hint = "spec.protectOperations", "a PodDisruptionBudget guards against evictions only: add EVICT"
	}
	return r.Fault(field, hint+"; or choose the objects to convert with --name or --selector", "this cannot become one %s, but %s", way.to.words[0], became)
}

func names(list []*resource.Resource) string {
	if len(list) == 0 {
		return "nothing"
	}
	text := make([]string, len(list))
	for i, r := range list {
		text[i] = r.ID().String()
	}
	return strings.Join(text, " and ")
}

// unmark takes away what lowering writes into what it renders: a converted
// object was not rendered.
func (p piece) unmark() {
	for _, mark := range [][2]string{{"labels", kruise.SourceLabel}, {"annotations", kruise.StrategyAnnotation}} {
		if !tree.Has(tree.Get(p.was.Node(), "metadata", mark[0]), mark[1]) {
			removeMetadataKey(p.become, mark[0], mark[1])
		}
	}
}

// removeMetadataKey removes metadata.FIELD[key], with FIELD where it holds nothing else.
func removeMetadataKey(r *resource.Resource, name, key string) {
	have := tree.Get(r.Node(), "metadata", name)
	if !tree.Has(have, key) {
		return
	}
	n := r.Edit()
	meta, list := tree.Shallow(tree.Get(n, "metadata")), tree.Shallow(have)
	tree.Delete(list, key)
	if tree.Set(meta, name, list); len(list.Content) == 0 {
		tree.Delete(meta, name)
	}
	tree.Set(n, "metadata", meta)
}

// prune removes the fields of spec that the new kind does not have: its schema would drop
// them anyway.
func (p piece) prune(c *stage.Context) {
	for _, path := range p.way.from.unknown(p.was) {
		c.Findings.Add("convert/unknown-field", p.was, path, "")
	}
	for _, path := range p.way.to.unknown(p.become) {
		gone, _ := tree.At(p.become.Node(), path)
		*p.become.Edit() = *restored(tree.Root(p.become.Node()), field{Made: tree.Value(gone)}, tree.Steps(path))
	}
}

// unknown lists the fields of spec that the kind does not have. Below the
// template and in lists everything is the user's.
func (k kind) unknown(r *resource.Resource) []string {
	all, err := kruise.Decode(r.Node(), reflect.New(reflect.TypeOf(k.object)).Interface())
	if err != nil {
		return nil // the checks report it
	}
	return slices.DeleteFunc(all, func(path string) bool {
		return !strings.HasPrefix(path, "spec.") || strings.HasPrefix(path, k.template+".") || strings.Contains(path, "[")
	})
}
