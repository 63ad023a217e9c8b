package rollout_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// kind is a workload of three pods.
func kind(apiVersion, name, more string) string {
	return `apiVersion: ` + apiVersion + `
kind: ` + name + `
metadata: {name: web}
spec:
  ` + more + `
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:1"}]}
`
}

// TestKinds_ForthAndBack: a rollout and its undo, of each kind and driver.
func TestKinds_ForthAndBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ of, text, flags string }{
		"Deployment":           {"deployment/web", kind("apps/v1", "Deployment", "replicas: 3"), " --steps 100%"},
		"Advanced StatefulSet": {"statefulset.apps.kruise.io/web", kind("apps.kruise.io/v1beta1", "StatefulSet", "replicas: 3\n  serviceName: web"), " --steps 1,100%"},
		"Advanced DaemonSet":   {"daemonset.apps.kruise.io/web", kind("apps.kruise.io/v1beta1", "DaemonSet", "minReadySeconds: 0"), " --steps 1,100%"},
		"StatefulSet":          {"statefulset.apps/web", kind("apps/v1", "StatefulSet", "replicas: 3\n  serviceName: web"), " --steps 1,100%"},
		"DaemonSet OnDelete":   {"daemonset.apps/web", kind("apps/v1", "DaemonSet", "updateStrategy: {type: OnDelete}"), " --steps 1,100% --driver client"},
	} {
		t.Run(name, func(t *testing.T) {
			s := story.Start(t, 3, c.text)
			if strings.Contains(c.flags, "1,") {
				s.Run("rollout run " + c.of + c.flags + " --pause-after 1 --exit-on-pause" + image2).Ends(5)
				s.Run("rollout promote " + c.of).Ends(0)
			} else {
				s.Run("rollout run " + c.of + c.flags + image2).Ends(0)
			}
			s.Has("", images{"web:2": 3})
			s.Run("rollout status "+c.of+" --watch=false").Ends(0, "complete")
			s.Run("why " + c.of).Ends(0)
			s.Run("rollout history " + c.of).Ends(0)
			s.Run("rollout undo " + c.of + strings.Replace(c.flags, " --steps 1,100%", "", 1) + " --yes --pull-images never").Ends(0)
			s.Has("", images{"web:1": 3})
		})
	}
}

// TestRun_PullsImagesFirst: every node has the new image before the first pod gets it.
func TestRun_PullsImagesFirst(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 100% --pull-images first --image main=registry.example.com/web:2 --yes").Ends(0, "pull")
	s.Has("", images{"web:2": 4})
}

// TestPull_ReportsEveryNode: every node is told of, those that fail with a reason.
func TestPull_ReportsEveryNode(t *testing.T) {
	s := web(t)
	const tool = "pull registry.example.com/tool:"
	s.Run(tool+"7 cloneset/web").Ends(0, "\tpulled\n", "registry.example.com/tool:7 is on ")
	s.Run(tool+"8 -o json").Ends(0, `"state":"pulled"`)
	s.Run(tool+"8").Ends(0, "\tpulled\n")
	s.Run(tool+"bad --node-selector kubernetes.io/hostname=node-0").Ends(3, "node-0\tfailed: ", "is on 0 of 1 node; failed on node-0")
	s.Run(tool+"8 --node-selector pool=none").Ends(1, "there is no node to pull")
	s.Run("pull", "Not An Image").Ends(2, "is not an image")
}

// TestDryRun_OfPull: what would pull is shown, and nothing is created.
func TestDryRun_OfPull(t *testing.T) {
	s := web(t)
	const pull = "pull registry.example.com/tool:1 cloneset/web"
	over := writes(s)
	show := shown(t, s.Run(pull+" --dry-run=server -o json"))
	if asked, sent := over(); len(asked) != 1 || len(sent) > 0 {
		t.Errorf("a dry run asks for %v, and sends %v", asked, sent)
	}
	over = writes(s)
	s.Run(pull).Ends(0)
	if _, sent := over(); len(sent) == 0 || !slices.Equal(show, sent) {
		t.Errorf("shown:\n%s\nsent:\n%s", strings.Join(show, "\n"), strings.Join(sent, "\n"))
	}
}

// TestRestart_RecreatesPods of a workload, all of them.
func TestRestart_RecreatesPods(t *testing.T) {
	s := web(t)
	before := map[string]bool{}
	for _, p := range s.Ready(t, story.Namespace) {
		before[string(p.UID)] = true
	}
	s.Run("rollout restart cloneset/web --yes --pull-images never").Ends(0)
	s.Has("", images{"web:1": 4})
	for _, p := range s.Ready(t, story.Namespace) {
		if before[string(p.UID)] {
			t.Errorf("%s was not recreated", p.Name)
		}
	}
}

// TestDetach_TheJobCarriesItOut: a Job is made, and what it runs finishes the rollout.
func TestDetach_TheJobCarriesItOut(t *testing.T) {
	s := web(t)
	s.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: kubectl-kruise}}")
	s.Apply(t, "kubectl-kruise", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: kubectl-kruise-runner}}")
	run := "rollout run cloneset/web --steps 1,100% --driver kruise --detach --runner-image registry.example.com/kubectl-kruise:v9" + image2
	s.Run(run+" --manifest").Ends(0, "kind: Job")
	s.Run(run).Ends(0, "job.batch/rollout-web-")
	jobs, err := s.Client.BatchV1().Jobs("kubectl-kruise").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	s.Has("", images{"web:1": 4})
	args := jobs.Items[0].Spec.Template.Spec.Containers[0].Args
	back := saysDone(t, s, "rollout.cloneset.web", 2)
	s.Run("", args...).Ends(3, "its record says that it is completed")
	s.Has("", images{"web:1": 4})
	back()
	s.Run("", args...).Ends(0)
	s.Has("", images{"web:2": 4})
	s.Run("", args...).Ends(0)
	s.Run("rollout status cloneset/web --watch=false").Ends(0, "complete")
}

// saysDone edits the record of a rollout, so that all of its steps are done; back restores it.
func saysDone(t *testing.T, s *story.Story, name string, steps int) (back func()) {
	t.Helper()
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	write := func(record string) {
		patch, err := json.Marshal(map[string]any{"data": map[string]any{"record": record}})
		if err == nil {
			_, err = maps.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var record map[string]any
	if err := json.Unmarshal([]byte(cm.Data["record"]), &record); err != nil {
		t.Fatal(err)
	}
	progress, _ := record["progress"].(map[string]any)
	progress["step"], progress["finished"] = steps, "2026-11-29T00:00:00Z"
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	write(string(text))
	return func() { write(cm.Data["record"]) }
}

// TestApplyPlan_FromAFile: a plan is made in one place, approved, and carried out in another.
func TestApplyPlan_FromAFile(t *testing.T) {
	s := web(t)
	file := s.File("plan.yaml", "")
	s.Run("plan cloneset/web --steps 1,100% --image main=registry.example.com/web:2 --pull-images never -o yaml --out " + file).Ends(0)
	s.Run("rollout apply " + file + " --yes").Ends(0)
	s.Has("", images{"web:2": 4})
	s.Run("rollout apply " + file + " --yes")
	s.Has("", images{"web:2": 4})
}

// TestStatus_OfANamespace: all that is rolled out there, wherever one looks from.
func TestStatus_OfANamespace(t *testing.T) {
	s := story.Start(t, 4, story.CloneSet("web", "2", "web:1"), story.CloneSet("api", "2", "web:1"))
	s.Run("rollout run cloneset/web --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	s.Run("rollout list -A").Ends(0, "cloneset/web")
	s.Run("rollout status -A --watch=false").Ends(0, "cloneset/web")
	s.Run("rollout status cloneset/web --watch=false -o json").Ends(0, `"updated": 1`)
	s.Run("rollout show cloneset/web -o yaml").Ends(0, "web:2")
	s.Run("describe cloneset web").Ends(0, "web:2")
}
