package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Random is one object that was changed at random, with the answer to a create of it, or to an
// update where there is an old one.
type Random struct {
	// File and Line are where the object is recorded.
	File string
	Line int

	Object json.RawMessage `json:"object"`
	// Old is what was stored before an update.
	Old     json.RawMessage `json:"old"`
	Allowed bool            `json:"allowed"`
	// Fields are those that a refusal named; empty where it named none.
	Fields []string `json:"fields"`
	// Message is the beginning of a refusal, where it was recorded.
	Message string `json:"message"`
}

// kind is that of the object.
func (r Random) kind() string {
	var o struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(r.Object, &o)
	return o.Kind
}

// agreement is how many answers agree with the recorded ones.
type agreement struct{ passed, failed int }

func (a agreement) share() float64 { return float64(a.passed) / float64(a.passed+a.failed) }

// Share asks for every object of a file of an area of random objects whether it is taken, and
// fails the test where less than the share of the answers agrees, or less than the share of those
// for one kind: a few misses of a kind with few objects are excused by ofKind. With -v it prints
// the counts, and names the answers that differ.
func Share(t *testing.T, area, file string, takes func(Random) (taken bool, why string), share, ofKind float64) {
	t.Helper()
	name := area
	if file != "objects.jsonl" {
		name += " " + strings.TrimSuffix(file, ".jsonl")
	}
	var all agreement
	kinds := map[string]agreement{}
	for _, r := range Randoms(t, area, file) {
		taken, why := takes(r)
		of := kinds[r.kind()]
		if taken == r.Allowed {
			all.passed++
			of.passed++
		} else {
			all.failed++
			of.failed++
			if testing.Verbose() {
				t.Logf("%s:%d: recorded %t %q %s; ours: %s", r.File, r.Line, r.Allowed, r.Fields, r.Message, why)
			}
		}
		kinds[r.kind()] = of
	}
	if testing.Verbose() {
		fmt.Printf("conformance %s: %d passed, %d failed\n", name, all.passed, all.failed)
	}
	if got := all.share(); got < share {
		t.Errorf("conformance %s: %.4f of the answers agree, want %.4f", name, got, share)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		of := kinds[kind]
		if testing.Verbose() && of.failed > 0 {
			fmt.Printf("conformance %s %s: %d passed, %d failed (%.4f)\n", name, kind, of.passed, of.failed, of.share())
		}
		if got := of.share(); got < ofKind {
			t.Errorf("conformance %s: %.4f of the answers for %s agree, want %.4f", name, got, kind, ofKind)
		}
	}
}

// Randoms returns the objects of a file of an area of random objects.
func Randoms(tb testing.TB, area, file string) []Random {
	tb.Helper()
	root, err := open(area)
	if elsewhere(err) {
		tb.Skipf("conformance: $%s has no area %s", Env, area)
	}
	if err != nil {
		tb.Fatal(err)
	}
	text, err := fs.ReadFile(root, file)
	if err != nil {
		tb.Fatal(err)
	}
	var out []Random
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		r := Random{File: file, Line: i + 1}
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatalf("%s:%d: %v", file, i+1, err)
		}
		out = append(out, r)
	}
	return out
}
