package migrate_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: shop}}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:1"}]}
`

const scaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 4
  maxReplicas: 9
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
`

// has fails unless the two workloads ask for so many pods, and no record of a migration is left.
func has(s *story.Story, deployments, cloneSets int64) {
	s.Helper()
	for kind, want := range map[string]int64{"Deployment": deployments, "CloneSet": cloneSets} {
		u := s.Object(kind, "web")
		if got := story.Number(u, "spec", "replicas"); got != want {
			s.Errorf("%s asks for %d pods, want %d", kind, got, want)
		}
		if u.GetAnnotations()["kubectl-kruise.dev/migration"] != "" {
			s.Errorf("a record is left on the %s", kind)
		}
	}
}

// TestMigrate_ThereAndBack: a Deployment becomes a CloneSet, and comes back.
func TestMigrate_ThereAndBack(t *testing.T) {
	s := story.Start(t, 4, deployment)
	s.Run("migrate deployment/web --to CloneSet --max-surge 2 --yes --dry-run=client").Ends(0)
	if s.Find("CloneSet", "web") != nil {
		t.Fatal("a dry run made the CloneSet")
	}
	s.Run("migrate deployment/web --to CloneSet --max-surge 2 --yes").Ends(0, "Successfully migrated 4 replicas from Deployment/web to CloneSet/web")
	has(s, 0, 4)
	s.Has("", map[string]int{"web:1": 4})
	if made := s.Object("CloneSet", "web"); made.GetLabels()["team"] != "shop" {
		t.Errorf("labels %v", made.GetLabels())
	}
	s.Run("migrate cloneset/web --to Deployment --yes").Ends(0, "Successfully migrated 4 replicas from CloneSet/web to Deployment/web")
	has(s, 4, 0)
}

// TestMigrate_APart moves so many replicas, and the rest when it is asked again.
func TestMigrate_APart(t *testing.T) {
	s := story.Start(t, 4, deployment)
	s.Run("migrate deployment/web --to CloneSet --replicas 1 --yes").Ends(0, "Successfully migrated 1 replica")
	has(s, 3, 1)
	s.Run("migrate deployment/web --to CloneSet --yes").Ends(0, "Successfully migrated 3 replicas")
	has(s, 0, 4)
}

// TestMigrate_TakesTheAutoscaler along.
func TestMigrate_TakesTheAutoscaler(t *testing.T) {
	s := story.Start(t, 4, deployment, scaler)
	s.Run("migrate deployment/web --to CloneSet --yes").Ends(0, "horizontalpodautoscaler/web")
	has(s, 0, 4)
	list := s.Run("get horizontalpodautoscaler web -o yaml").Ends(0)
	if !strings.Contains(list.Out, "kind: CloneSet") {
		t.Errorf("it scales\n%s", list.Out)
	}
}

// TestMigrate_Refuses what would not work, before it writes.
func TestMigrate_Refuses(t *testing.T) {
	s := story.Start(t, 4, deployment)
	for args, code := range map[string]int{
		"deployment/web --to Deployment --yes": 2, "deployment/web --to DaemonSet --yes": 2, "deployment/api --to CloneSet --yes": 1,
		"--to CloneSet": 2,
	} {
		if got := s.Run("migrate " + args); got.Code != code {
			t.Errorf("%s: exit %d, want %d\n%s", args, got.Code, code, got.Err)
		}
	}
	if s.Find("CloneSet", "web") != nil {
		t.Error("a CloneSet was made")
	}
}

// TestMigrate_HandsADaemonSetOver: the pods stay, and have another owner.
func TestMigrate_HandsADaemonSetOver(t *testing.T) {
	text := strings.NewReplacer("Deployment", "DaemonSet", "  replicas: 4\n", "").Replace(deployment)
	s := story.Start(t, 3, text)
	s.Run("migrate daemonset.apps/web --to DaemonSet.apps.kruise.io --yes --dry-run=client").Ends(0)
	s.Run("migrate daemonset.apps/web --to daemonset.apps.kruise.io --yes").Ends(0)
	s.Has("", map[string]int{"web:1": 3})
	for _, p := range s.Ready(t, story.Namespace) {
		if o := p.OwnerReferences; len(o) != 1 || o[0].APIVersion != "apps.kruise.io/v1beta1" {
			t.Errorf("%s belongs to %v", p.Name, o)
		}
	}
}

// TestMigrate_AStatefulSet: pods keep their names.
func TestMigrate_AStatefulSet(t *testing.T) {
	text := strings.NewReplacer("Deployment", "StatefulSet", "replicas: 4", "replicas: 3\n  serviceName: web").Replace(deployment)
	s := story.Start(t, 3, text)
	s.Run("migrate statefulset.apps/web --to statefulset.apps.kruise.io --yes").Ends(0)
	s.Reaches("", map[string]int{"web:1": 3})
	for _, p := range s.Ready(t, story.Namespace) {
		if o := p.OwnerReferences; len(o) != 1 || o[0].APIVersion != "apps.kruise.io/v1beta1" || !strings.HasPrefix(p.Name, "web-") {
			t.Errorf("%s belongs to %v", p.Name, o)
		}
	}
}
