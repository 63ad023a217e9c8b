package render_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
)

const (
	releasePods = `template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.com/web:1", resources: {limits: {cpu: "2"}}}]}}`
	releaseSet  = `{apiVersion: apps.kruise.io/VERSION, kind: CloneSet, metadata: {name: web}, spec: {progressDeadlineSeconds: 600, selector: {matchLabels: {app: web}}, ` + releasePods + "}}\n"
	releaseUD   = `{apiVersion: apps.kruise.io/v1alpha1, kind: UnitedDeployment, metadata: {name: ud}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, topology: {subsets: [{name: a}]},
  template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 2}, selector: {matchLabels: {app: web}}, ` + releasePods + "}}}}}\n"
	releaseSidecar = `{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, metadata: {name: s}, spec: {selector: {matchLabels: {app: web}}, updateStrategy: {type: NotUpdate},
  initContainers: [{name: native, image: "example.com/n:1", restartPolicy: Always}],
  containers: [{name: side, image: "example.com/s:1", resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu*50%}}}}]}}
`
)

func release(t *testing.T, text string) kruise.Release {
	t.Helper()
	if text == "" {
		return kruise.Release{}
	}
	r, err := kruise.ParseRelease(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRender_ByRelease: what a release drops has no effect, what is made is in a version
// that it serves, and what stays Kruise's must be taken by it.
func TestRender_ByRelease(t *testing.T) {
	sidecar := releaseSidecar + "---\n" + strings.Replace(releaseSet, "VERSION", "v1alpha1", 1)
	for _, c := range []struct {
		name, release, input string
		opt                  render.Options
		want, not, fault     string
	}{
		{name: "dropped in 1.8", release: "1.8", input: sidecar, want: "restartPolicy: Always", not: "cpu: \"1\""},
		{name: "dropped in 1.6", release: "1.6", input: sidecar, want: "name: native", not: "restartPolicy: Always"},
		{name: "not dropped", release: "1.9", input: sidecar, want: "cpu: \"1\""},
		{name: "not dropped by the newest", input: sidecar, want: "cpu: \"1\""},
		{name: "made for 1.8", release: "1.8", input: releaseUD, opt: render.Options{Target: render.Kruise, Expand: []string{"UnitedDeployment"}}, want: "apps.kruise.io/v1alpha1 CloneSet {maxUnavailable: 2, type: InPlaceIfPossible}"},
		{name: "made for the newest", input: releaseUD, opt: render.Options{Target: render.Kruise, Expand: []string{"UnitedDeployment"}}, want: "apps.kruise.io/v1alpha1 CloneSet"},
		{name: "made for next", release: "next", input: strings.Replace(releaseUD, "{type: InPlaceIfPossible, maxUnavailable: 2}", "{rollingUpdate: {maxUnavailable: 2}}", 1), opt: render.Options{Target: render.Kruise, Expand: []string{"UnitedDeployment"}}, want: "apps.kruise.io/v1beta1 CloneSet"},
		{name: "the older form is refused by next", release: "next", input: releaseUD, fault: "unknown field"},
		{name: "expanded, whatever the version", release: "1.8", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), want: "apps/v1 Deployment"},
		{name: "kept, and refused", release: "1.8", input: strings.Replace(releaseSet, "VERSION", "v1alpha1", 1), opt: render.Options{Target: render.Kruise}, fault: "progressDeadlineSeconds: since Kruise 1.9"},
		{name: "kept in a version of no release", release: "1.9", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), opt: render.Options{Target: render.Kruise}, fault: "no release of Kruise serves CloneSet as v1beta1"},
		{name: "kept of a release that is not known", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), opt: render.Options{Target: render.Kruise}, want: "apps.kruise.io/v1beta1 CloneSet"},
		{name: "auto asks for the kind", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), opt: render.Options{Target: render.Auto, APIVersions: []string{"apps.kruise.io/v1beta1/StatefulSet", "apps.kruise.io/v1beta1"}}, want: "apps/v1 Deployment"},
		{name: "auto writes what is served", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), opt: render.Options{Target: render.Auto, APIVersions: []string{"apps.kruise.io/v1beta1/StatefulSet", "apps.kruise.io/v1alpha1/CloneSet"}}, want: "apps.kruise.io/v1alpha1 CloneSet"},
		{name: "auto goes by the release", release: "1.9", input: strings.Replace(releaseSet, "VERSION", "v1beta1", 1), opt: render.Options{Target: render.Auto, APIVersions: []string{"apps.kruise.io/v1alpha1", "apps.kruise.io/v1beta1"}}, want: "apps.kruise.io/v1alpha1 CloneSet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.Kruise = release(t, c.release)
			res, err := render.Render(t.Context(), golden.Parse(t, c.input), c.opt)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, r := range res.Resources {
				b.WriteString(r.APIVersion() + " " + r.Kind())
				if s := tree.Get(r.Node(), "spec", "updateStrategy"); s != nil {
					b.WriteString(" {maxUnavailable: " + tree.StrAt(s, "maxUnavailable") + ", type: " + tree.StrAt(s, "type") + "}")
				}
				text, err := yaml.Marshal(tree.Value(r.Node()))
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString("\n" + string(text))
			}
			if !strings.Contains(b.String(), c.want) || c.not != "" && strings.Contains(b.String(), c.not) {
				t.Errorf("want %q and not %q:\n%s", c.want, c.not, b.String())
			}
		})
	}
}
