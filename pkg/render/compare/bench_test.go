package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// BenchmarkCloneSets compares 1,000 CloneSets of which each has another image,
// beside five SidecarSets and a budget for each.
func BenchmarkCloneSets(b *testing.B) {
	old, now := fleet(1), fleet(2)
	b.ReportAllocs()
	for b.Loop() {
		a, err := load.Parse("old.yaml", old)
		if err != nil {
			b.Fatal(err)
		}
		c, err := load.Parse("new.yaml", now)
		if err != nil {
			b.Fatal(err)
		}
		if r := compare.Run(b.Context(), a, c, compare.Options{Gates: cluster.DefaultGates()}); len(r.Changes) != 1000 {
			b.Fatalf("%d changes", len(r.Changes))
		}
	}
}

func fleet(version int) []byte {
	var out strings.Builder
	for i := range 1000 {
		text := strings.NewReplacer("name: web,", fmt.Sprintf("name: web-%d,", i), "app: web", fmt.Sprintf("app: web-%d, tier: t%d", i, i%5), "web:1", fmt.Sprintf("web:%d", version)).Replace(clone)
		fmt.Fprintf(&out, "---\n%s---\n%s", text, strings.NewReplacer("name: a}", fmt.Sprintf("name: web-%d, namespace: shop}", i)).Replace(budget(fmt.Sprintf("{matchLabels: {app: web-%d}}", i))))
	}
	for i := range 5 {
		fmt.Fprintf(&out, "---\napiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: side-%d}\nspec: {selector: {matchLabels: {tier: t%d}}, containers: [{name: side-%d, image: s}]}\n", i, i, i)
	}
	return []byte(out.String())
}
