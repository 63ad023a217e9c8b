package apply_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

type images = map[string]int

const config = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: info}
`

const service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`

// shop is a folder with all of the application at one image.
func shop(s *story.Story, image string, more ...string) string {
	return s.File("shop.yaml", strings.Join(append([]string{config, service, story.CloneSet("web", "3", image)}, more...), "---\n"))
}

// TestApply_FromNothingToAChange: objects are made and waited for; a changed CloneSet is rolled out, and what is as it
// should be is left alone.
func TestApply_FromNothingToAChange(t *testing.T) {
	s := story.Start(t, 0)
	s.Run("apply -f "+shop(s, "web:1")+" --yes --pull-images never").Ends(0, "configmap/settings created", "cloneset.apps.kruise.io/web created")
	s.Has("", images{"web:1": 3})
	uid := s.Object("CloneSet", "web").GetUID()
	s.Run("apply -f "+shop(s, "web:2")+" --yes --pull-images never --steps 1,100%").Ends(0, "cloneset.apps.kruise.io/web rolled out", "configmap/settings unchanged")
	s.Has("", images{"web:2": 3})
	if now := s.Object("CloneSet", "web"); now.GetUID() != uid {
		t.Error("it is another CloneSet")
	}
	s.Run("apply -f "+shop(s, "web:2")+" --yes --pull-images never").Ends(0, "cloneset.apps.kruise.io/web unchanged")
}

// TestApply_FieldsBesideTheTemplate are written without a rollout, and those of others stay.
func TestApply_FieldsBesideTheTemplate(t *testing.T) {
	s := story.Start(t, 0)
	s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
	s.Apply(t, story.Namespace, "{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, metadata: {name: web, annotations: {owner: anna}}}")
	file := shop(s, "web:1", strings.Replace(config, "info", "debug", 1))
	s.Run("apply -f "+file+" --yes").Ends(1, "settings")
	text := strings.Join([]string{strings.Replace(config, "info", "debug", 1), strings.Replace(story.CloneSet("web", "4", "web:1"), "replicas: 4", "replicas: 4\n  minReadySeconds: 0", 1)}, "---\n")
	s.Run("apply -f "+s.File("more.yaml", text)+" --yes --pull-images never").Ends(0, "configmap/settings")
	s.Has("", images{"web:1": 4})
	if a := s.Object("CloneSet", "web").GetAnnotations()["owner"]; a != "anna" {
		t.Errorf("owner %q", a)
	}
	if data, _ := s.Object("ConfigMap", "settings").Object["data"].(map[string]any); data["level"] != "debug" {
		t.Errorf("%v", data)
	}
}

// TestApply_DryRunsWriteNothing: they show the requests.
func TestApply_DryRunsWriteNothing(t *testing.T) {
	s := story.Start(t, 0)
	s.Run("apply -f "+shop(s, "web:1")+" --yes --dry-run=server").Ends(0, "cloneset.apps.kruise.io/web created (server dry run)")
	s.Run("apply -f "+shop(s, "web:1")+" --yes --dry-run=client").Ends(0, "dry run")
	if s.Find("CloneSet", "web") != nil || s.Find("ConfigMap", "settings") != nil {
		t.Fatal("something was written")
	}
	s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
	before := s.Object("CloneSet", "web").GetGeneration()
	s.Run("apply -f "+shop(s, "web:2")+" --yes --dry-run=server --pull-images never --steps 1,100%").Ends(0, "PATCH")
	if now := s.Object("CloneSet", "web").GetGeneration(); now != before {
		t.Errorf("generation %d became %d", before, now)
	}
	s.Has("", images{"web:1": 3})
}

// TestApply_WritesNothingWhenOneObjectIsRefused: all are asked for before the first is written.
func TestApply_WritesNothingWhenOneObjectIsRefused(t *testing.T) {
	s := story.Start(t, 0)
	bad := strings.Replace(story.CloneSet("web", "3", "web:1"), "app: web}}\n  updateStrategy", "app: other}}\n  updateStrategy", 1)
	s.Run("apply -f "+s.File("bad.yaml", config+"---\n"+bad)+" --yes").Ends(1, "web")
	if s.Find("ConfigMap", "settings") != nil {
		t.Error("the ConfigMap was written")
	}
}

// TestApply_PrunesWhatLeft deletes what was a member of the set, and nothing else.
func TestApply_PrunesWhatLeft(t *testing.T) {
	s := story.Start(t, 0, strings.Replace(config, "name: settings", "name: own", 1))
	s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never --applyset configmap/shop").Ends(0)
	less := "apply -f " + s.File("less.yaml", story.CloneSet("web", "3", "web:1")) + " --yes --pull-images never --applyset configmap/shop --prune"
	s.Run(less+" --dry-run=server").Ends(0, "configmap/settings pruned (server dry run)")
	s.Run(less).Ends(0, "configmap/settings pruned", "service/web pruned")
	if s.Find("ConfigMap", "settings") != nil || s.Find("Service", "web") != nil || s.Find("ConfigMap", "own") == nil || s.Find("CloneSet", "web") == nil {
		t.Error("the wrong objects are gone")
	}
	s.Run("apply -f "+s.File("other.yaml", story.CloneSet("web", "3", "web:1"))+" --yes --applyset configmap/else").Ends(1, "another ApplySet")
}

// TestApply_PauseAndContinue: a rollout that waits is continued by applying the same again.
func TestApply_PauseAndContinue(t *testing.T) {
	s := story.Start(t, 0)
	s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
	next := "apply -f " + shop(s, "web:2") + " --yes --pull-images never --steps 1,100% --pause-after 1 --exit-on-pause"
	s.Run(next).Ends(5)
	s.Has("", images{"web:1": 2, "web:2": 1})
	mark := func() string { return s.Object("CloneSet", "web").GetAnnotations()[plan.BegunAnnotation] }
	began := mark()
	again := s.Run(next).Ends(5)
	if began == "" || mark() != began || strings.Contains(again.Out+again.Err, plan.BegunAnnotation) {
		t.Errorf("applied again, the workload does not show the plan with which its rollout began: %q, not %q\n%s", mark(), began, again.Err)
	}
	s.Run("rollout promote cloneset/web --no-wait").Ends(0)
	s.Run(next).Ends(0)
	s.Has("", images{"web:2": 3})
	if mark() != "" {
		t.Errorf("the rollout is completed, and the workload shows its plan: %q", mark())
	}
}

// TestApply_AgainAtTheLastStep: the process has died, or a check has failed, when nothing was left to write: applying the same again
// leads the rollout to its end, or refuses it, as at any step.
func TestApply_AgainAtTheLastStep(t *testing.T) {
	t.Run("died", func(t *testing.T) {
		s := story.Start(t, 0)
		s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
		next := "apply -f " + shop(s, "web:2") + " --yes --pull-images never --steps 1,100%"
		if died, _ := s.KilledAt(1, "clonesets", true, next); died == "" {
			t.Fatal("it ended before")
		}
		s.Run(next).Ends(0, "continuing at step 2/2", "cloneset.apps.kruise.io/web rolled out")
		s.Run("rollout show cloneset/web").Ends(0, "completed at ")
		s.Run(next).Ends(0, "cloneset.apps.kruise.io/web unchanged")
	})
	t.Run("died after it", func(t *testing.T) {
		s := story.Start(t, 0)
		s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
		next := "apply -f " + shop(s, "web:2") + " --yes --pull-images never --steps 1,100%"
		if died, _ := s.KilledAt(2, "clonesets", false, next); died == "" {
			t.Fatal("it ended before")
		}
		s.Run(next).Ends(0)
		if mark := s.Object("CloneSet", "web").GetAnnotations()[plan.BegunAnnotation]; mark != "" {
			t.Errorf("the rollout is completed, and the workload shows its plan: %q", mark)
		}
	})
	t.Run("failed", func(t *testing.T) {
		s := story.Start(t, 0)
		down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
		defer down.Close()
		s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
		file := shop(s, "web:2")
		next := "apply -f " + file + " --yes --pull-images never --steps 100% --verify-url " + down.URL
		s.Run(next).Ends(3, "503")
		s.Run(next).Ends(1, "error: "+file+":11: CloneSet web: its last rollout failed: verify: status 503", "rollout retry cloneset/web ", "rollout abort cloneset/web ")
	})
}

// TestApply_AFailedRolloutEndsWith3, and the objects after it are not written.
func TestApply_AFailedRolloutEndsWith3(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(down.Close)
	s := story.Start(t, 0)
	s.Run("apply -f " + shop(s, "web:1") + " --yes --pull-images never").Ends(0)
	s.Run("apply -f "+shop(s, "web:2")+" --yes --pull-images never --steps 1,100% --verify-url "+down.URL).Ends(3, "503")
	s.Has("", images{"web:1": 2, "web:2": 1})
}

// TestApply_NoneAfterAFailure: after a rollout that failed no other one is started.
func TestApply_NoneAfterAFailure(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(down.Close)
	s := story.Start(t, 0)
	all := func(image string) string {
		return "apply -f " + s.File("all.yaml", story.CloneSet("a", "1", image)+"---\n"+story.CloneSet("b", "1", image)) + " --yes --pull-images never"
	}
	s.Run(all("web:1")).Ends(0)
	r := s.Run(all("web:2")+" --verify-url "+down.URL).Ends(3, "cloneset.apps.kruise.io/b waiting: its rollout was not started")
	if strings.Contains(r.Out, "/a rolled out") {
		t.Error(r.Out)
	}
	s.Has("app", images{"a web:2": 1, "b web:1": 1})
}

// TestApply_GroupInWaves: workloads with waves are rolled out as a group.
func TestApply_GroupInWaves(t *testing.T) {
	s := story.Start(t, 0)
	all := func(image string) string {
		one := strings.Replace(story.CloneSet("one", "2", image), "labels: {team: shop}", `labels: {team: shop}, annotations: {wave: "0"}`, 1)
		two := strings.Replace(story.CloneSet("two", "2", image), "labels: {team: shop}", `labels: {team: shop}, annotations: {wave: "1"}`, 1)
		return "apply -f " + s.File("all.yaml", one+"---\n"+two+"---\n"+config) + " --yes --pull-images never --wave-by wave"
	}
	s.Run(all("web:1")).Ends(0)
	s.Has("app", images{"one web:1": 2, "two web:1": 2})
	s.Run(all("web:2")).Ends(0, "2 of 2 completed")
	s.Has("app", images{"one web:2": 2, "two web:2": 2})
}

const united = `apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 1}}
        template:
          metadata: {labels: {app: web}}
          spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:1"}]}
  topology: {subsets: [{name: zone-b, replicas: 2}, {name: zone-a, replicas: 2}]}
`

// TestApply_AUnitedDeployment is made, and rolled out subset by subset when it has changed.
func TestApply_AUnitedDeployment(t *testing.T) {
	s := story.Start(t, 0)
	const subset = "apps.kruise.io/subset-name"
	s.Run("apply -f " + s.File("united.yaml", united) + " --yes --pull-images never").Ends(0)
	s.Reaches(subset, images{"zone-a web:1": 2, "zone-b web:1": 2})
	s.Run("apply -f "+s.File("united.yaml", strings.ReplaceAll(united, "web:1", "web:2"))+" --yes --pull-images never --steps 1,100%").Ends(0, "uniteddeployment.apps.kruise.io/web rolled out")
	s.Has(subset, images{"zone-a web:2": 2, "zone-b web:2": 2})
}

// TestApply_TakesOverFromKubectl: what kubectl applied on the client's side, and the manifest has no more, goes.
func TestApply_TakesOverFromKubectl(t *testing.T) {
	last := `'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"shop"},"data":{"level":"info","old":"x"}}'`
	s := story.Start(t, 0)
	s.Run("create -f " + s.File("old.yaml", strings.NewReplacer("name: settings", "name: settings, annotations: {kubectl.kubernetes.io/last-applied-configuration: "+last+"}", "level: info", "level: info, old: x").Replace(config)) + " --validate=false --field-manager=kubectl-client-side-apply").Ends(0)
	s.Run("apply -f "+s.File("new.yaml", config)+" --yes").Ends(0, "configmap/settings")
	if data, _ := s.Object("ConfigMap", "settings").Object["data"].(map[string]any); data["old"] != nil || data["level"] != "info" {
		t.Errorf("%v", data)
	}
}

// TestApply_ReportsConflicts: a field of another manager is taken only when that is asked for.
func TestApply_ReportsConflicts(t *testing.T) {
	s := story.Start(t, 0, config)
	file := s.File("in.yaml", strings.Replace(config, "info", "debug", 1))
	s.Run("apply -f "+file+" --yes").Ends(1, "test", ".data.level")
	s.Run("apply -f " + file + " --yes --force-conflicts").Ends(0)
	if data, _ := s.Object("ConfigMap", "settings").Object["data"].(map[string]any); data["level"] != "debug" {
		t.Errorf("%v", data)
	}
}
