package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"
)

// Random is one object that was changed at random, with the answer to a create of it.
type Random struct {
	// File and Line are where the object is recorded.
	File string
	Line int

	Object  json.RawMessage `json:"object"`
	Allowed bool            `json:"allowed"`
	// Fields are those that a refusal named; empty where it named none.
	Fields []string `json:"fields"`
}

// Share asks for every object of a file of an area of random objects whether it is taken,
// and returns how many answers agree with the recorded ones and how many do not. With -v
// it names those that do not.
func Share(t *testing.T, area, file string, takes func(Random) (taken bool, why string)) (passed, failed int) {
	t.Helper()
	for _, r := range Randoms(t, area, file) {
		taken, why := takes(r)
		if taken == r.Allowed {
			passed++
			continue
		}
		failed++
		if testing.Verbose() {
			t.Logf("%s:%d: recorded %t %q; ours: %s", r.File, r.Line, r.Allowed, r.Fields, why)
		}
	}
	return passed, failed
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

// Report prints the counts of an area with -v, and fails the test where fewer than the
// share of the answers agree.
func Report(t *testing.T, name string, passed, failed int, share float64) {
	t.Helper()
	if testing.Verbose() {
		fmt.Printf("conformance %s: %d passed, %d failed\n", name, passed, failed)
	}
	if got := float64(passed) / float64(passed+failed); got < share {
		t.Errorf("conformance %s: %.4f of the answers agree, want %.4f", name, got, share)
	}
}
