// Package arbitrary makes random objects of Kruise's kinds: one that the real Kruise was
// recorded to take, with up to three mutations. Tests hold rules against them that need
// no expected answer, and fuzz targets search by their seeds.
package arbitrary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/schema"
)

// mostMutations is how many mutations an object has at most.
const mostMutations = 3

// Object is one random object.
type Object struct {
	// Before is the object that was recorded as taken, and After what became of it.
	Before, After map[string]any
	// Mutations say what was done to it; none leaves it as it was.
	Mutations []string
}

// JSON is the object as a file has it.
func (o *Object) JSON() []byte { return text(o.After) }

// Source makes objects: for a seed always the same.
type Source struct {
	taken []map[string]any
	// schemas are those of the kinds, by version and kind.
	schemas map[string]map[string]any
}

// New returns a source whose objects come from the recorded ones that Kruise's main branch
// takes. Without kinds it makes objects of all of them.
func New(tb testing.TB, only ...string) *Source {
	tb.Helper()
	s := &Source{schemas: map[string]map[string]any{}}
	for _, r := range conformance.Randoms(tb, "lint-random", "objects.jsonl") {
		var o map[string]any
		if err := json.Unmarshal(r.Object, &o); err != nil {
			tb.Fatal(err)
		}
		version, kind := fmt.Sprint(o["apiVersion"]), fmt.Sprint(o["kind"])
		if !r.Allowed || len(only) > 0 && !slices.Contains(only, kind) {
			continue
		}
		if s.schemas[version+" "+kind] == nil {
			s.schemas[version+" "+kind] = document(tb, version, kind)
		}
		s.taken = append(s.taken, o)
	}
	if len(s.taken) == 0 {
		tb.Fatal("no object was recorded as taken")
	}
	return s
}

func document(tb testing.TB, version, kind string) map[string]any {
	tb.Helper()
	data, err := schema.JSON(version, kind, schema.Options{Kruise: kruise.Next})
	if err != nil {
		tb.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// Object returns the object of a seed.
func (s *Source) Object(seed uint64) Object {
	random := rand.New(rand.NewPCG(seed, seed>>1)) //nolint:gosec // random objects keep no secret
	before := s.taken[random.IntN(len(s.taken))]
	o := Object{Before: copied(before), After: copied(before)}
	m := &mutator{Rand: random, document: s.schemas[fmt.Sprint(before["apiVersion"], " ", before["kind"])]}
	for range random.IntN(mostMutations + 1) {
		if said := m.mutate(o.After); said != "" {
			o.Mutations = append(o.Mutations, said)
		}
	}
	return o
}

func copied(o map[string]any) map[string]any {
	var out map[string]any
	if err := json.Unmarshal(text(o), &out); err != nil {
		panic(err) // it was JSON before
	}
	return out
}

func text(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON before
	}
	return out
}
