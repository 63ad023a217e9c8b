package commands

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/proxy"
)

// TestAliases_WorkInEveryVerb: names of types that Kruise's definitions do not have are understood by every
// verb that takes a type, on a server that does not know them.
func TestAliases_WorkInEveryVerb(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.call(t, "create", "ipj", "warm", "--image", "registry.example.com/web:1", "--node-selector", "no=node", "-o", "name").ends(t, 0, "imagepulljob.apps.kruise.io/warm")
	b.call(t, "create", "ilpj", "warmer", "--images", "a:1,b:2", "-o", "name").ends(t, 0, "imagelistpulljob.apps.kruise.io/warmer")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"get ipj", []string{"warm"}},
		{"get ipj/warm -o name", []string{"imagepulljob.apps.kruise.io/warm"}},
		{"get ilpj warmer -o name", []string{"imagelistpulljob.apps.kruise.io/warmer"}},
		{"get ipj,ilpj -o name", []string{"imagepulljob.apps.kruise.io/warm", "imagelistpulljob.apps.kruise.io/warmer"}},
		{"describe ipj warm", []string{"warm", "registry.example.com/web:1"}},
		{"describe ilpj/warmer", []string{"warmer", "b:2"}},
		{"set image ipj/warm registry.example.com/web:2 --dry-run=server -o name", []string{"imagepulljob.apps.kruise.io/warm"}},
		{"delete ipj warm", []string{"warm"}},
		{"delete ilpj/warmer", []string{"warmer"}},
	} {
		a := b.call(t, strings.Fields(c.args)...)
		if strings.HasPrefix(c.args, "set ") {
			if strings.Contains(a.out+a.err, "doesn't have a resource type") {
				t.Errorf("%s: %s%s", c.args, a.out, a.err)
			}
			continue
		}
		a.ends(t, 0, c.want...)
	}
	p, err := proxy.New(b.Config(), &proxy.Log{}, proxy.Weather{}, 1)
	must(t, err)
	defer p.Kill()
	b.call(t, "create", "ipj", "again", "--image", "registry.example.com/web:1", "--node-selector", "no=node").ends(t, 0)
	if out := offers(t, b, p)("describe", "ipj", ""); !slices.ContainsFunc(out, func(line string) bool { return strings.HasPrefix(line, "again") }) {
		t.Errorf("the shell offers %q", out)
	}
}
