package render_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const pullWithoutNodes = `apiVersion: apps.kruise.io/v1alpha1
kind: ImagePullJob
metadata: {name: warm}
spec: {image: "registry.example.com/app:1", completionPolicy: {type: Always}}
`

const someConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n"

const refusedCloneSet = `apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: app, image: "registry.example.com/app:1"}]}
`

const scalerOfCloneSet = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 4, scaleTargetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}}
`

const refusedSidecarSet = `apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: logs}
spec:
  selector: {matchLabels: {app: web}}
  containers: [{name: logs}]
`

func TestRender_LeavesOutWhatItRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		in            []string
		opt           render.Options
		want, refused []string
		fails         string
	}{
		"a job per node": {
			in: []string{pullWithoutNodes, someConfigMap}, opt: render.Options{LeaveOut: true},
			want: []string{"ConfigMap/app"}, refused: []string{"imagepulljob/nodes-unknown ImagePullJob/warm"},
		},
		"a refused workload, and what names it": {
			in: []string{refusedCloneSet, scalerOfCloneSet, someConfigMap}, opt: render.Options{LeaveOut: true},
			want: []string{"ConfigMap/app"}, refused: []string{"object/refused CloneSet/web"},
		},
		"not unless it is asked for":          {in: []string{pullWithoutNodes, someConfigMap}, fails: "no node is known"},
		"not where pods would lack a sidecar": {in: []string{refusedSidecarSet, someConfigMap}, opt: render.Options{LeaveOut: true}, fails: "logs"},
		"not at a limit": {
			in:  []string{strings.Replace(pullWithoutNodes, "{name: warm}", `{name: warm, annotations: {kubectl-kruise.dev/nodes: "2"}}`, 1), someConfigMap},
			opt: render.Options{LeaveOut: true, Limits: stage.Limits{OutputNodes: 3}}, fails: "hold",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := load.Parse("in.yaml", []byte(strings.Join(tc.in, "---\n")))
			if err != nil {
				t.Fatal(err)
			}
			res, err := render.Render(t.Context(), in, tc.opt)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("error %v, want one with %q", err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got, refused []string
			for _, r := range res.Resources {
				got = append(got, r.Kind()+"/"+r.Name())
			}
			for _, f := range res.Findings {
				if f.Severity == finding.Error {
					refused = append(refused, f.ID+" "+f.Object.Kind+"/"+f.Object.Name)
				}
			}
			slices.Sort(refused)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.refused, refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}
