package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// FuzzObject changes two places of a recorded object, and asks for one of all operations:
// whatever it is then, it is let through or refused, by a rule of the catalogue.
func FuzzObject(f *testing.F) {
	const end = "\x1e"
	var texts []string
	around := map[string][]*resource.Resource{}
	for _, c := range conformance.List(f, "lint") {
		texts = append(texts, text(f, c, "object.yaml")+end+c.Name)
		around[c.Name] = slices.Concat(read(f, c, "object.yaml"), read(f, c, "setup.yaml"), read(f, c, "before.yaml"))
	}
	var ids []string
	for _, r := range check.Rules() {
		ids = append(ids, r.ID)
	}
	distort.Fuzz(f, texts, func(t *testing.T, both string) {
		t.Helper()
		text, name, _ := strings.Cut(both, end)
		in, err := load.Parse("in.yaml", []byte(text))
		if err != nil || len(in) == 0 || len(around[name]) == 0 {
			return
		}
		good := around[name][0]
		request := []check.Request{
			{Object: in[0]},
			{Object: in[0], Old: good},
			{Object: good, Old: in[0]},
			{Object: in[0], Operation: check.Delete},
		}[len(text)%4]
		for _, fault := range check.Object(newContext(in, around[name]), request) {
			if !slices.Contains(ids, fault.Rule) || fault.Err == nil {
				t.Errorf("fault %v of rule %q", fault.Error, fault.Rule)
			}
		}
	})
}

func read(tb testing.TB, c conformance.Case, file string) []*resource.Resource {
	tb.Helper()
	if !c.Has(file) {
		return nil
	}
	out, err := load.Parse(file, []byte(text(tb, c, file)))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
