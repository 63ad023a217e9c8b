package lint_test

import (
	"context"
	"errors"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// taken reports whether a random object has no error in a release, and which it has.
func taken(release kruise.Release) func(conformance.Random) (ok bool, why string) {
	return func(r conformance.Random) (ok bool, why string) {
		in, err := load.Parse("object.yaml", r.Object)
		if err != nil {
			return false, err.Error()
		}
		q := lint.Request{Objects: in, Kruise: release}
		if r.Old != nil {
			if q.Old, err = load.Parse("old.yaml", r.Old); err != nil {
				return false, err.Error()
			}
		}
		var problems []error
		for _, p := range lint.Run(context.Background(), q) {
			if p.Severity == lint.Error {
				problems = append(problems, errors.New(p.Error.Error()+" ["+p.Rule+"]"))
			}
		}
		if len(problems) > 0 {
			return false, errors.Join(problems...).Error()
		}
		return true, "no error"
	}
}

// TestConformanceRandom: lint has errors for the random objects, and for updates of them, that
// the real webhooks and schemas of each release refuse, and for no others.
func TestConformanceRandom(t *testing.T) {
	for _, tc := range []struct {
		area, file, release string
		share, ofKind       float64
	}{
		{"lint-random", "objects.jsonl", "next", 1, 1},
		{"releases", "1.5.jsonl", "1.5", 1, 1},
		{"releases", "1.8.jsonl", "1.8", 1, 1},
		{"releases", "1.9.jsonl", "1.9", 1, 1},
		{"lint-random2", "master.jsonl", "next", 0.995, 0.99},
		{"lint-random2", "1.9.jsonl", "1.9", 0.995, 0.99},
		{"lint-random2", "1.8.jsonl", "1.8", 0.995, 0.99},
		{"lint-updates", "master.jsonl", "next", 0.995, 0.99},
		{"lint-updates", "1.9.jsonl", "1.9", 0.995, 0.99},
		{"lint-updates", "1.8.jsonl", "1.8", 0.995, 0.99},
		{"lint-null", "master.jsonl", "next", 0.995, 0.99},
		{"lint-null", "1.8.jsonl", "1.8", 0.995, 0.99},
		{"lint-sweep", "master.jsonl", "next", 0.995, 0.99},
		{"lint-sweep", "1.8.jsonl", "1.8", 0.995, 0.99},
	} {
		t.Run(tc.area+" "+tc.release, func(t *testing.T) {
			release, err := kruise.ParseRelease(tc.release)
			if err != nil {
				t.Fatal(err)
			}
			conformance.Share(t, tc.area, tc.file, taken(release), tc.share, tc.ofKind)
		})
	}
}
