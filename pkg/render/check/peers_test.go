package check

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
			near := slices.Collect(x.candidates(p.id.Namespace, x.wants[i]))
			if !slices.IsSorted(near) || len(slices.Compact(slices.Clone(near))) != len(near) {
				t.Fatalf("seed %d: the candidates %v are not in order", seed, near)
			}
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
				if _, err := Run(c, list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/object")
		})
	}
}

// TestConflicts_AreReportedOnceForEachObject: thousands of objects that are all in conflict with each
// other have one error each, which names a few of the others.
func TestConflicts_AreReportedOnceForEachObject(t *testing.T) {
	object := func(group, kind, name string, spec *tree.Node) *resource.Resource {
		return resource.Parsed(tree.Map("apiVersion", group+"/v1alpha1", "kind", kind, "metadata", tree.Map("name", name, "namespace", "shop"), "spec", spec), nil, resource.Origin{})
	}
	labels := func() *tree.Node { return tree.Map("matchLabels", tree.Map("app", "web")) }
	target := func() *tree.Node { return tree.Map("apiVersion", "apps/v1", "kind", "Deployment", "name", "web") }
	for about, c := range map[string]struct {
		of   func(name string) *resource.Resource
		want [2]string
	}{
		"selectors": {func(name string) *resource.Resource {
			return object(kruise.PolicyGroup, "PodUnavailableBudget", name, tree.Map("selector", labels(), "maxUnavailable", tree.Int64(1)))
		}, [2]string{"PodUnavailableBudget g0 and g1 may select the same pods", "PodUnavailableBudget g0, g1, g2 and others may select the same pods"}},
		"targets": {func(name string) *resource.Resource {
			return object(kruise.PolicyGroup, "PodUnavailableBudget", name, tree.Map("targetRef", target(), "maxUnavailable", tree.Int64(1)))
		}, [2]string{"PodUnavailableBudget g0 and g1 have the same target", "PodUnavailableBudget g0, g1, g2 and others have the same target"}},
		"containers": {func(name string) *resource.Resource {
			return object(kruise.Group, "SidecarSet", name, tree.Map("selector", labels(), "containers", tree.Seq(tree.Map("name", "agent", "image", "agent:1"))))
		}, [2]string{"container agent is also in SidecarSet g0 and g1, and a pod", "container agent is also in SidecarSet g0, g1, g2 and others, and a pod"}},
	} {
		var list []*resource.Resource
		for i := range 400 {
			list = append(list, c.of(fmt.Sprintf("g%d", i)))
		}
		x := stage.New(resource.NewFacts(list, nil, ""), stage.Options{})
		for i, r := range list {
			var texts []string
			for _, f := range Object(x, Request{Object: r}) {
				texts = append(texts, f.Err.Error())
			}
			switch {
			case i == 0 && len(texts) > 0, i > 0 && len(texts) != 1, len(texts) == 1 && len(texts[0]) > 200:
				t.Fatalf("%s: object %d has %d errors: %v", about, i, len(texts), texts[:min(len(texts), 2)])
			case i == 2 && !strings.Contains(texts[0], c.want[0]), i == 399 && !strings.Contains(texts[0], c.want[1]):
				t.Errorf("%s: object %d: %s", about, i, texts[0])
			}
		}
	}
}

// TestFirst_LooksNoFurtherThanItMust: an object that is in conflict with the first ones is not compared
// with the rest.
func TestFirst_LooksNoFurtherThanItMust(t *testing.T) {
	var many []int
	for i := range 10_000 {
		many = append(many, i)
	}
	compared := 0
	got := first(merged([][]int{many, {3, 5}}), func(int) bool { compared++; return true })
	if len(got) != 4 || compared != 4 {
		t.Errorf("%v after %d comparisons", got, compared)
	}
}
