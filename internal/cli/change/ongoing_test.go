package change

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// beside is a factory of a cluster in which the CloneSet a/web has a rollout at a progress.
func beside(t *testing.T, at plan.Progress, streams factory.Streams) *factory.Factory {
	t.Helper()
	client := fake.NewClientset()
	records := kube.Records{Client: client}
	ref := cluster.Ref{Group: "apps.kruise.io", Kind: "CloneSet", Namespace: "a", Name: "web"}
	p := plan.Plan{
		Target: plan.Target{APIVersion: "apps.kruise.io/v1beta1", Kind: "CloneSet", Namespace: "a", Name: "web", UID: "u1"},
		Driver: plan.DriverKruise, Change: plan.Change{FromHash: "aa", ToHash: "bb", Mode: rules.ModeInPlace},
		Steps: []plan.Step{
			{Name: "update", Kind: plan.StepUpdate, OnFailure: plan.FailPause},
			{Name: "pause-1", Kind: plan.StepPause, OnFailure: plan.FailPause, Pause: &plan.Pause{}},
			{Name: "step-100%", Kind: plan.StepPartition, OnFailure: plan.FailPause},
		},
	}
	if _, err := records.Begin(t.Context(), ref, metav1.OwnerReference{}, p, nil, "anna"); err != nil {
		t.Fatal(err)
	}
	_, err := records.Change(t.Context(), ref, "anna", func(r *plan.Record) error {
		r.Progress = at
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if name == "pods" {
			_, _ = io.WriteString(w, `{"kind": "PodList", "apiVersion": "v1", "items": [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-x", "namespace": "a",
				"ownerReferences": [{"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web", "uid": "u1", "controller": true}]}}]}`)
			return
		}
		cm, err := client.CoreV1().ConfigMaps("a").Get(r.Context(), name, metav1.GetOptions{})
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
			return
		}
		cm.APIVersion, cm.Kind = "v1", "ConfigMap"
		_ = json.NewEncoder(w).Encode(cm)
	}))
	t.Cleanup(s.Close)
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	f := factory.New(streams)
	*f.Flags.APIServer = s.URL
	return f
}

const ofKruise = "apiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata: {name: NAME, namespace: a, uid: u1}\nspec: {replicas: 3, updateStrategy: {rollingUpdate: {partition: PARTITION}}, template: {spec: {containers: [{name: app, image: IMAGE}]}}}\n"

func ofImage(name, image, partition string) string {
	return strings.NewReplacer("NAME", name, "IMAGE", image, "PARTITION", partition).Replace(ofKruise)
}

// TestConfirmBeside_RefusesWhatFailsARollout: a field that a rollout in progress writes is not changed beside it, unless a user
// says so; all else is, and so is a workload whose rollout has ended.
func TestConfirmBeside_RefusesWhatFailsARollout(t *testing.T) {
	paused, failed := plan.Progress{Step: 1, Sent: 1}, plan.Progress{Step: 1, Failed: "crash web-1: x"}
	for name, c := range map[string]struct {
		at            plan.Progress
		before, after string
		answer, want  string
	}{
		"template":      {paused, ofImage("web", "web:1", "2"), ofImage("web", "web:2", "2"), "", "cloneset/web has a rollout in progress: waiting for approval at step 2 of 3; a change of spec.template by another command fails it"},
		"partition":     {paused, ofImage("web", "web:1", "2"), ofImage("web", "web:1", "1"), "", "a change of spec.updateStrategy.rollingUpdate.partition by another command fails it"},
		"another field": {paused, ofImage("web", "web:1", "2"), strings.Replace(ofImage("web", "web:1", "2"), "replicas: 3", "replicas: 4", 1), "", ""},
		"another name":  {paused, ofImage("api", "web:1", "2"), ofImage("api", "web:2", "2"), "", ""},
		"ended":         {failed, ofImage("web", "web:1", "2"), ofImage("web", "web:2", "2"), "", ""},
		"recreated":     {paused, strings.Replace(ofImage("web", "web:1", "2"), "u1", "u2", 1), strings.Replace(ofImage("web", "web:2", "2"), "u1", "u2", 1), "", ""},
		"yes":           {paused, ofImage("web", "web:1", "2"), ofImage("web", "web:2", "2"), "y\n", ""},
		"no":            {paused, ofImage("web", "web:1", "2"), ofImage("web", "web:2", "2"), "n\n", "nothing was changed"},
		"united": {
			plan.Progress{},
			"apiVersion: apps.kruise.io/v1beta1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: a, annotations: {kubectl-kruise.dev/before-rollout: '{}'}}\nspec: {template: {a: 1}}",
			"apiVersion: apps.kruise.io/v1beta1\nkind: UnitedDeployment\nmetadata: {name: web, namespace: a}\nspec: {template: {a: 2}}", "", "uniteddeployment/web has a rollout in progress: not all of its subsets are updated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			f := beside(t, c.at, factory.Streams{In: strings.NewReader(c.answer), InTTY: c.answer != "", Err: &said})
			err := confirmBeside(t.Context(), f, setObject(t, c.before), setObject(t, c.after), "--image app=web:2")
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%v, want %q", err, c.want)
			case c.answer != "" && !strings.Contains(said.String(), "'kubectl kruise rollout abort cloneset/web -n a' ends it"):
				t.Errorf("it asks without the commands: %s", &said)
			}
			if refused, ok := errors.AsType[*tree.Error](err); ok && name == "template" {
				want := "'kubectl kruise rollout abort cloneset/web -n a' ends it where it is, then 'kubectl kruise rollout run cloneset/web -n a --image app=web:2' rolls this change out; to go back: 'kubectl kruise rollout abort cloneset/web -n a --rollback'"
				if got := strings.ReplaceAll(refused.Hint, " --server "+*f.Flags.APIServer, ""); got != want {
					t.Errorf("%s\nwant %s", got, want)
				}
			}
		})
	}
}

// TestNoteScaled_SaysWhatItMeansForTheSteps: a number in the partition keeps that many pods until the next step; of a
// percentage nothing needs to be said.
func TestNoteScaled_SaysWhatItMeansForTheSteps(t *testing.T) {
	const goesOn = "note: cloneset/web has a rollout in progress: waiting for approval at step 2 of 3; it continues, and percentages of its next steps are of the new number of pods"
	for object, want := range map[string]string{
		ofImage("web", "web:1", "2"):   goesOn + "; until the next step, partition 2 stays, and pods beyond it have the new template\n",
		ofImage("web", "web:1", "50%"): goesOn + "\n",
		ofImage("api", "web:1", "2"):   "",
	} {
		var said bytes.Buffer
		f := beside(t, plan.Progress{Step: 1, Sent: 1, Started: time.Unix(9, 0)}, factory.Streams{Err: &said})
		if err := noteScaled(t.Context(), f, setObject(t, object)); err != nil || said.String() != want {
			t.Errorf("%q, %v\nwant %q", &said, err, want)
		}
	}
}

// TestScaledown_SaysWhatItMeansForTheSteps: as scale does, and in front of a write alone.
func TestScaledown_SaysWhatItMeansForTheSteps(t *testing.T) {
	for _, dry := range []cmdutil.DryRunStrategy{cmdutil.DryRunNone, cmdutil.DryRunServer} {
		var said bytes.Buffer
		f := beside(t, plan.Progress{Step: 1, Sent: 1, Started: time.Unix(9, 0)}, factory.Streams{Err: &said})
		o := &scaleDownOptions{edit: edit{Factory: f, dryRun: dry}, pods: []string{"web-x"}}
		if err := o.scaleDown(t.Context(), scaleDownObject(t, ofImage("web", "web:1", "2"))); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(said.String(), "percentages of its next steps are of the new number of pods; until the next step, partition 2 stays"); told != (dry == cmdutil.DryRunNone) {
			t.Errorf("dry run %v: %q", dry, &said)
		}
	}
}

// TestRolloutImages_AreFlagsOfTheRollout: a pattern has none.
func TestRolloutImages_AreFlagsOfTheRollout(t *testing.T) {
	for want, images := range map[string]map[string]string{
		"--image a=x:1 --image b=y:2": {"b": "y:2", "a": "x:1"},
		"":                            {"*": "x:1"},
	} {
		if got := rolloutImages(images); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
