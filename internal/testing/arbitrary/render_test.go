package arbitrary_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/arbitrary"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestRender_AgreesWithLintOnRandomObjects: of random objects of Kruise's kinds, nothing that lint refuses is
// rendered, and nothing that lint takes is refused where it stays Kruise's; both give the
// same answer twice, and in both versions of the API.
func TestRender_AgreesWithLintOnRandomObjects(t *testing.T) {
	source := arbitrary.New(t)
	taken, refused, converted, expanded := 0, 0, 0, 0
	for seed := range uint64(1500) {
		v := hold(t, source.Object(seed))
		taken += count(v.parsed && !v.refused)
		refused += count(v.refused)
		converted += count(v.converted)
		expanded += count(v.expanded)
	}
	t.Logf("%d taken, %d refused; %d compared in both versions, %d expanded", taken, refused, converted, expanded)
	if taken < 200 || refused < 200 || converted < 200 || expanded < 100 {
		t.Errorf("%d taken, %d refused, %d compared in both versions, %d expanded: too few of a kind prove little", taken, refused, converted, expanded)
	}
}

// FuzzRender_AgreesWithLint searches for more of them.
func FuzzRender_AgreesWithLint(f *testing.F) {
	source := arbitrary.New(f)
	distort.Seeds(f, func(t *testing.T, seed uint64) {
		t.Helper()
		hold(t, source.Object(seed+10_000))
	})
}

// verdict is what became of one object.
type verdict struct{ parsed, refused, converted, expanded bool }

// hold holds one object to what must be so of all.
func hold(t *testing.T, o arbitrary.Object) (v verdict) {
	t.Helper()
	text := o.JSON()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s\n%s\n%s", fmt.Sprintf(format, args...), text, strings.Join(o.Mutations, "\n"))
	}
	in, err := load.Parse("in.yaml", text)
	if err != nil || len(in) != 1 || in[0].Kind() == "List" {
		return v
	}
	v.parsed = true
	errs := refusals(in, nil)
	v.refused = len(errs) > 0
	if again := refusals(parsed(t, text), nil); !slices.Equal(errs, again) {
		fail("lint says two things:\n%s", cmp.Diff(errs, again))
	}
	if updated := refusals(in, parsed(t, mustJSON(o.Before))); v.refused && len(updated) == 0 {
		fail("an update makes what cannot be created: %q", errs)
	}
	refusals(parsed(t, mustJSON(o.Before)), parsed(t, text))
	if len(o.Mutations) == 0 {
		if errs := refusals(in, parsed(t, mustJSON(o.Before))); len(errs) > 0 {
			fail("an object that stays as it is, is refused: %q", errs)
		}
	}
	if _, err := rendered(text, render.Kruise); (err != nil) != v.refused {
		fail("where it stays Kruise's, render says %v; lint says %q", err, errs)
	}
	once, err := rendered(text, render.Native)
	if err == nil && v.refused {
		fail("render takes it; lint says %q", errs)
	}
	v.expanded = err == nil
	if again, twice := rendered(text, render.Native); !bytes.Equal(once, again) || (err == nil) != (twice == nil) || err != nil && err.Error() != twice.Error() {
		fail("render says two things: %v, %v\n%s", err, twice, cmp.Diff(string(once), string(again)))
	}
	if other, ok := otherVersion(t, in[0], text); ok {
		v.converted = true
		if there := refusals(other, nil); (len(sameInBoth(there)) > 0) != (len(sameInBoth(errs)) > 0) {
			fail("in %s lint says %q; as it is written %q", other[0].APIVersion(), there, errs)
		}
	}
	return v
}

// refusals are the errors of lint, without their places: those differ between versions.
func refusals(in, old []*resource.Resource) []string {
	var out []string
	for _, p := range lint.Run(context.Background(), lint.Request{Objects: in, Old: old, Kept: true, Kruise: kruise.Next}) {
		if p.Severity == lint.Error {
			out = append(out, p.Rule+" "+p.Error.Error())
		}
	}
	return out
}

// ofOneVersion are rules that one version alone has, in its schema
// (docs/kruise/distribution.md#in-two-versions) or its webhook
// (docs/kruise/workloads.md#how-many-pods).
var ofOneVersion = []string{"persistentpodstate/retention-invalid", "persistentpodstate/weight-invalid", "cloneset/update-type-invalid"}

func sameInBoth(refusals []string) []string {
	return slices.DeleteFunc(slices.Clone(refusals), func(s string) bool {
		rule, _, _ := strings.Cut(s, " ")
		return slices.Contains(ofOneVersion, rule)
	})
}

func rendered(text []byte, target render.Target) ([]byte, error) {
	in, err := load.Parse("in.yaml", text)
	if err != nil {
		return nil, err
	}
	res, err := render.Render(context.Background(), in, render.Options{Target: target, Kruise: kruise.Next})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = emit.Stream(&out, res.Resources, stage.Limits{})
	return out.Bytes(), err
}

// otherVersion is the object in the other version of its API, where nothing is lost on the
// way there and back.
func otherVersion(t *testing.T, r *resource.Resource, text []byte) ([]*resource.Resource, bool) {
	t.Helper()
	there := map[string]string{"v1alpha1": "v1beta1", "v1beta1": "v1alpha1"}[r.Version()]
	if !kruise.Serves(r.Group(), r.Kind(), there) || strings.Contains(string(text), "cloneSetTemplate") {
		return nil, false
	}
	list := parsed(t, text)
	written, err := convert.ForRelease(list, convert.Writing{Version: there, Release: kruise.Next})
	if err != nil || len(written.Lost)+len(written.Skipped) > 0 {
		return nil, false
	}
	other := parsed(t, mustJSON(plain(t, list[0])))
	back := parsed(t, mustJSON(plain(t, list[0])))
	written, err = convert.ForRelease(back, convert.Writing{Version: r.Version(), Release: kruise.Next})
	if err != nil || len(written.Lost) > 0 || !cmp.Equal(plain(t, back[0]), plain(t, r)) {
		return nil, false
	}
	return other, true
}

func plain(t *testing.T, r *resource.Resource) map[string]any {
	t.Helper()
	var out map[string]any
	if _, err := tree.Decode(r.Node(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func parsed(t *testing.T, text []byte) []*resource.Resource {
	t.Helper()
	in, err := load.Parse("in.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
