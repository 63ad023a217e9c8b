package convert_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

// TestForRelease_ChecksWhatTheReleaseServes: what is written is taken by the release; what it lacks is refused in
// what a person wrote, and lost in what was made.
func TestForRelease_ChecksWhatTheReleaseServes(t *testing.T) {
	const pods = "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'c:1'}]}}"
	clone := func(version, more string) string {
		return "apiVersion: apps.kruise.io/" + version + "\nkind: CloneSet\nmetadata: {name: web}\nspec: {" + more + pods + "}\n"
	}
	united := "apiVersion: apps.kruise.io/VERSION\nkind: UnitedDeployment\nmetadata: {name: ud}\nspec: {selector: {matchLabels: {a: b}}, topology: {subsets: [{name: a}]}, template: {cloneSetTemplate: {metadata: {labels: {a: b}}, spec: {updateStrategy: FORM, " + pods + "}}}}\n"
	ud := func(version, form string) string {
		return strings.NewReplacer("VERSION", version, "FORM", form).Replace(united)
	}
	for _, c := range []struct {
		name, in, version, release string
		made                       bool
		want, fault                string
		lost, unserved             int
	}{
		{name: "to what the release serves", in: clone("v1beta1", ""), version: "v1alpha1", release: "1.8", want: "apps.kruise.io/v1alpha1"},
		{name: "to what it does not serve", in: clone("v1alpha1", ""), version: "v1beta1", release: "1.9", fault: "Kruise 1.9 does not serve CloneSet as v1beta1: it is there only in versions after Kruise 1.9"},
		{name: "to what nothing serves", in: clone("v1alpha1", ""), version: "v1beta1", want: "apps.kruise.io/v1beta1", unserved: 1},
		{name: "a field that the release lacks", in: clone("v1beta1", "progressDeadlineSeconds: 60, "), version: "v1alpha1", release: "1.8", fault: "spec.progressDeadlineSeconds: since Kruise 1.9: it would be lost in objects for Kruise 1.8"},
		{name: "a field that the release has", in: clone("v1beta1", "progressDeadlineSeconds: 60, "), version: "v1alpha1", want: "progressDeadlineSeconds: 60"},
		{name: "a field of what was made", in: clone("v1beta1", "progressDeadlineSeconds: 60, "), release: "1.8", made: true, want: "apps.kruise.io/v1alpha1", lost: 1},
		{name: "what was made, for the newest", in: clone("v1beta1", ""), made: true, want: "apps.kruise.io/v1alpha1"},
		{name: "what was made, for next", in: clone("v1beta1", ""), release: "next", made: true, want: "apps.kruise.io/v1beta1"},
		{name: "what a person wrote stays", in: clone("v1beta1", "progressDeadlineSeconds: 60, "), release: "1.8", want: "apps.kruise.io/v1beta1"},
		{name: "a template downwards", in: ud("v1beta1", "{rollingUpdate: {partition: 1, podUpdatePolicy: InPlaceOnly}}"), version: "v1alpha1", want: "updateStrategy: {partition: 1, type: InPlaceOnly}"},
		{name: "a template downwards for next", in: ud("v1beta1", "{rollingUpdate: {partition: 1}}"), version: "v1alpha1", release: "next", want: "updateStrategy: {rollingUpdate: {partition: 1}}"},
		{name: "a template upwards", in: ud("v1alpha1", "{partition: 1, type: InPlaceOnly}"), version: "v1beta1", want: "rollingUpdate: {podUpdatePolicy: InPlaceOnly, partition: 1}", unserved: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := convert.Writing{Version: c.version}
			if c.release != "" {
				var err error
				if w.Release, err = kruise.ParseRelease(c.release); err != nil {
					t.Fatal(err)
				}
			}
			in := golden.Parse(t, c.in)
			if !c.made {
				w.Given = in
			}
			out, err := convert.ForRelease(in, w)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := text(t, in); !strings.Contains(got, c.want) || len(out.Lost) != c.lost || len(out.Unserved) != c.unserved {
				t.Errorf("want %q:\n%s%+v", c.want, got, out)
			}
			if c.lost > 0 && strings.Contains(text(t, in), out.Lost[0].Path[len("spec."):]) {
				t.Errorf("%s is still there", out.Lost[0].Path)
			}
		})
	}
}
