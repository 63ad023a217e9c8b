package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

func guard(name, namespace string, selector *tree.Node) *resource.Resource {
	return resource.Parsed(tree.Map(
		"apiVersion", kruise.PolicyGroup+"/v1beta1", "kind", "PodUnavailableBudget",
		"metadata", tree.Map("name", name, "namespace", namespace),
		"spec", tree.Map("selector", selector, "maxUnavailable", tree.Int64(1)),
	), nil, resource.Origin{})
}

// requirement is any of those that a selector may have.
func requirement(r *rand.Rand, key string) *tree.Node {
	out := tree.Map("key", key)
	values := func() *tree.Node {
		n := tree.FromValue([]any{})
		for range 1 + r.IntN(2) {
			n.Content = append(n.Content, tree.String(string(rune('a'+r.IntN(3)))))
		}
		return n
	}
	switch r.IntN(4) {
	case 0:
		return tree.Map("key", key, "operator", "In", "values", values())
	case 1:
		return tree.Map("key", key, "operator", "NotIn", "values", values())
	case 2:
		tree.Set(out, "operator", tree.String("Exists"))
	default:
		tree.Set(out, "operator", tree.String("DoesNotExist"))
	}
	return out
}

func anySelector(r *rand.Rand) *tree.Node {
	list, labels := tree.FromValue([]any{}), tree.Map()
	for _, key := range []string{"app", "tier"} {
		for range r.IntN(3) {
			if r.IntN(2) == 0 {
				tree.Set(labels, key, tree.String(string(rune('a'+r.IntN(3)))))
			} else {
				list.Content = append(list.Content, requirement(r, key))
			}
		}
	}
	return tree.Map("matchLabels", labels, "matchExpressions", list)
}

// TestSelectors_CandidatesIncludeAllOverlaps: whatever is left out cannot meet, whichever requirements there are.
func TestSelectors_CandidatesIncludeAllOverlaps(t *testing.T) {
	met := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list []*resource.Resource
		for i := range 25 {
			list = append(list, guard(fmt.Sprintf("g%d", i), []string{"here", "there"}[r.IntN(2)], anySelector(r)))
		}
		c := stage.New(resource.NewFacts(list[:15], list[10:], ""), stage.Options{})
		s := newSubject(c, Request{Object: list[0]})
		x := indexSelectors(s.c.Facts, kruise.PolicyGroup, "PodUnavailableBudget")
		for i, p := range x.all {
			near := x.candidates(p.id.Namespace, x.wants[i])
			for j, q := range x.all {
				mine, theirs := x.wants[i], x.wants[j]
				meet := p.id.Namespace == q.id.Namespace && groupKey("", mine) == groupKey("", theirs) && compatible(mine, theirs) && compatible(theirs, mine)
				if meet && !slices.Contains(near, j) {
					t.Fatalf("seed %d: %s and %s meet", seed, p.r.Name(), q.r.Name())
				}
				if meet && i != j {
					met++
				}
			}
		}
	}
	if met < 100 {
		t.Errorf("only %d met: the test shows nothing", met)
	}
}

// BenchmarkBudgets checks budgets that share one label and differ in another. The time
// of one must not grow with their number.
func BenchmarkBudgets(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		var list []*resource.Resource
		for i := range n {
			list = append(list, guard(fmt.Sprintf("g%d", i), "shop", tree.Map("matchLabels", tree.Map("part-of", "shop", "app", fmt.Sprintf("a%d", i)))))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				c := stage.New(resource.NewFacts(list, nil, ""), stage.Options{Expand: stage.ExpandAll, Workers: 1})
				if err := Run(c, list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/object")
		})
	}
}
