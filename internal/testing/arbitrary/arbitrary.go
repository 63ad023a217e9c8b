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

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
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
	o, m := s.begin(seed)
	for range m.IntN(mostMutations + 1) {
		o.say(m.mutate(o.After, ""))
	}
	return o
}

// mostAdditions is how many fields a pod template gets at most.
const mostAdditions = 5

// PodTemplate returns the object of a seed whose spec.template alone was changed: it has
// got fields, of which some exclude each other, and then up to two mutations.
func (s *Source) PodTemplate(seed uint64) Object {
	const at = "spec.template."
	o, m := s.begin(seed)
	for range 1 + m.IntN(mostAdditions) {
		o.say(m.addition(m.below(o.After, at)))
	}
	for range m.IntN(mostMutations) {
		o.say(m.mutate(o.After, at))
	}
	return o
}

// begin returns an object of a seed, still unchanged, and what changes it.
func (s *Source) begin(seed uint64) (Object, *mutator) {
	random := rand.New(rand.NewPCG(seed, seed>>1)) //nolint:gosec // random objects keep no secret
	before := s.taken[random.IntN(len(s.taken))]
	m := &mutator{Rand: random, document: s.schemas[fmt.Sprint(before["apiVersion"], " ", before["kind"])]}
	return Object{Before: copied(before), After: copied(before)}, m
}

func (o *Object) say(mutation string) {
	if mutation != "" {
		o.Mutations = append(o.Mutations, mutation)
	}
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
