package rollout_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// TestRun_SeveralBySelector: workloads of a label are rolled out one after the other.
func TestRun_SeveralBySelector(t *testing.T) {
	s := story.Start(t, 5, story.CloneSet("web", "3", "web:1"), story.CloneSet("api", "2", "web:1"))
	s.Run("rollout run -l team=shop --steps 1,100%" + image2).Ends(0)
	s.Has("app", images{"web web:2": 3, "api web:2": 2})
	s.Run("rollout status -l team=shop").Ends(0, "cloneset/web", "cloneset/api")
	s.Run("rollout undo -l team=shop --yes --pull-images never").Ends(0)
	s.Has("app", images{"web web:1": 3, "api web:1": 2})
	s.Run("rollout run -l team=none"+image2).Ends(1, "team=none")
}

// TestRun_SeveralStopAtAPause: each comes to its own pause.
func TestRun_SeveralStopAtAPause(t *testing.T) {
	s := story.Start(t, 4, story.CloneSet("a", "2", "web:1"), story.CloneSet("b", "2", "web:1"))
	s.Run("rollout run -l team=shop --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	s.Has("app", images{"a web:1": 1, "a web:2": 1, "b web:1": 1, "b web:2": 1})
	s.Run("rollout abort cloneset/a --rollback --yes").Ends(0)
	s.Run("rollout promote cloneset/b").Ends(0)
	s.Has("app", images{"a web:1": 2, "b web:2": 2})
}

// waves are CloneSets web-0, web-1 and so on of two pods with their waves, and a file in which they have a new image.
func waves(t *testing.T, of ...string) (s *story.Story, group string) {
	t.Helper()
	var before []string
	for i, wave := range of {
		text := story.CloneSet("web-"+string(rune('0'+i)), "2", "web:1")
		before = append(before, strings.Replace(text, "labels: {team: shop}", `labels: {team: shop}, annotations: {wave: "`+wave+`"}`, 1))
	}
	s = story.Start(t, 2*len(of), before...)
	file := s.File("shop.yaml", strings.ReplaceAll(strings.Join(before, "---\n"), "web:1", "web:2"))
	return s, "rollout run -f " + file + " --wave-by wave --pull-images never --yes"
}

// TestGroup_RunsInWaves: all of a wave are rolled out before the next one begins.
func TestGroup_RunsInWaves(t *testing.T) {
	s, group := waves(t, "0", "0", "1")
	s.Run(group+" --steps 100% --parallel 2").Ends(0, "3 of 3 completed")
	s.Has("", images{"web:2": 6})
	s.Run("rollout status --group shop").Ends(0, "group shop: completed: 3 of 3 completed")
	s.Run("rollout list --all").Ends(0, "shop")
	s.Run("rollout pause --group shop").Ends(1, "group shop ended at ")
}

// TestGroup_ManyWorkloadsShareWatches: many workloads in four waves, 5 % of which fail. The others are completed, and what
// the group asks the server for does not grow with them but for the writes: each kind of object is listed and watched
// once, the records and that of the group. CHAOS_GROUP is how many there are.
func TestGroup_ManyWorkloadsShareWatches(t *testing.T) {
	size := 20
	if text := os.Getenv("CHAOS_GROUP"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		size = n
	}
	fails := 0
	var before, after []string
	for i := range size {
		text := strings.Replace(story.CloneSet(fmt.Sprint("web-", i), "1", "web:1"), "labels: {team: shop}", fmt.Sprintf(`labels: {team: shop}, annotations: {wave: "%d"}`, i*4/size), 1)
		image := "web:2"
		if i >= size/2 && i < size/2+size/20 { // at a time: each takes a minute
			image = "web:bad"
			fails++
		}
		before, after = append(before, text), append(after, strings.ReplaceAll(text, "web:1", image))
	}
	s := story.Start(t, len(before), before...)
	over := asks(s)
	s.Run("rollout run --wave-by wave --pull-images never --yes --steps 100% --group all --parallel 50 --driver kruise --max-failures "+
		fmt.Sprint(fails, " -f ", s.File("shop.yaml", strings.Join(after, "---\n")))).Ends(3, fmt.Sprint(fails, " rollout"), " failed: ")
	counts := over()
	s.Has("", images{"web:2": size - fails})
	for what, n := range counts {
		verb, kind, _ := strings.Cut(what, " ")
		most := 1
		if kind == "configmaps" || kind == "rollouts" { // a server without Kruise Rollout is asked for both versions
			most = 2
		}
		if (verb == "list" || verb == "watch") && n > most {
			t.Errorf("%s: %d times", what, n)
		}
	}
	if counts["watch pods"] == 0 || counts["watch leases"] > 0 { // one is watched only while another process holds it
		t.Errorf("%v", counts)
	}
}

// TestGroup_IsControlledByItsName: pause, resume, promote and abort are for all of a group.
func TestGroup_IsControlledByItsName(t *testing.T) {
	s, group := waves(t, "0", "0", "1")
	s.Run(group + " --steps 50%,100% --pause-after 1 --exit-on-pause --group all").Ends(5)
	s.Has("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 1, "web-1 web:2": 1, "web-2 web:1": 2})
	s.Run("rollout pause --group all").Ends(0)
	s.Run("rollout status --group all").Ends(0, "2 rollouts wait for a user; paused ")
	s.Run("rollout resume --group all --exit-on-pause").Ends(5)
	s.Run("rollout promote --group all --exit-on-pause").Ends(5)
	s.Has("app", images{"web-0 web:2": 2, "web-1 web:2": 2, "web-2 web:1": 1, "web-2 web:2": 1})
	s.Run("rollout abort --group all --rollback --yes --dry-run=client").Ends(0, "dry run")
	s.Run("rollout abort --group all --rollback --yes").Ends(0, "rolled back")
	s.Has("", images{"web:1": 6})
}

var digestOf = regexp.MustCompile(`group \S+ approved: (sha256:[0-9a-f]+)`)

// TestGroup_FromAnotherMachine: a record gives no rights: on a machine that has not approved a group, it is paused and
// looked at, and the rest of it needs the group's digest.
func TestGroup_FromAnotherMachine(t *testing.T) {
	s, group := waves(t, "0", "0", "1")
	r := s.Run(group + " --steps 50%,100% --pause-after 1 --exit-on-pause --group all").Ends(5)
	digest := digestOf.FindStringSubmatch(r.Out + r.Err)
	if digest == nil {
		t.Fatal(r.Out + r.Err)
	}
	s.Has("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 1, "web-1 web:2": 1, "web-2 web:1": 2})
	there := s.AnotherMachine()
	there.Run("rollout pause --group all").Ends(0)
	there.Run("rollout status --group all").Ends(0, "group all: waiting: 2 rollouts wait for a user; paused ")
	there.Run("rollout resume --group all --exit-on-pause").Ends(1, "is not one that you approved on this machine")
	there.Run("rollout resume --group all --approved sha256:00").Ends(1)
	there.Run("rollout promote --group all --exit-on-pause --approved " + digest[1]).Ends(5) // the two; the third begins, and waits
	s.Has("app", images{"web-0 web:2": 2, "web-1 web:2": 2, "web-2 web:1": 1, "web-2 web:2": 1})
	s.Run("rollout promote --group all").Ends(0)
	s.Has("", images{"web:2": 6})
}

// TestGroup_FailureStopsTheNextWave, and retry continues when its cause is gone.
func TestGroup_FailureStopsTheNextWave(t *testing.T) {
	var works atomic.Bool
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(service.Close)
	s, group := waves(t, "0", "1")
	s.Run(group+" --steps 100% --group all --verify-url "+service.URL).Ends(3, "1 not started")
	s.Has("app", images{"web-0 web:2": 2, "web-1 web:1": 2})
	s.Run("rollout status --group all").Ends(3, "failed")
	works.Store(true)
	s.Run("rollout retry --group all --dry-run=client").Ends(0, "dry run")
	s.Run("rollout retry --group all").Ends(0, "group all: completed: 2 of 2 completed")
	s.Has("", images{"web:2": 4})
}

const united = `apiVersion: apps.kruise.io/v1beta1
kind: UnitedDeployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    cloneSetTemplate:
      metadata: {labels: {app: web}}
      spec:
        selector: {matchLabels: {app: web}}
        updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}
        template:
          metadata: {labels: {app: web}}
          spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:1"}]}
  topology: {subsets: [{name: zone-b, replicas: 2}, {name: zone-a, replicas: 3}]}
`

const subset = "apps.kruise.io/subset-name"

// noneLeft fails unless the UnitedDeployment has no partitions of a rollout.
func noneLeft(s *story.Story) {
	s.Helper()
	u := s.Object("UnitedDeployment", "web")
	if p, _, _ := unstructured.NestedMap(u.Object, "spec", "updateStrategy", "manualUpdate", "partitions"); len(p) > 0 {
		s.Errorf("partitions are left: %v", p)
	}
}

// TestUnited_ForthAndBack: both subsets get the new image, and undo takes it back from both.
func TestUnited_ForthAndBack(t *testing.T) {
	s := story.Start(t, 5, united)
	s.Run("rollout run ud/web" + image2).Ends(0)
	s.Has(subset, images{"zone-b web:2": 2, "zone-a web:2": 3})
	noneLeft(s)
	s.Run("rollout status ud/web --watch=false").Ends(0)
	s.Run("rollout undo ud/web --yes --pull-images never").Ends(0)
	s.Has(subset, images{"zone-b web:1": 2, "zone-a web:1": 3})
	noneLeft(s)
}

// TestUnited_AsksBeforeATemplate: a new template is written after a question, also where partitions keep all pods.
func TestUnited_AsksBeforeATemplate(t *testing.T) {
	s := story.Start(t, 5, united+"  updateStrategy: {type: Manual, manualUpdate: {partitions: {zone-b: 2, zone-a: 3}}}\n")
	s.Run("rollout run ud/web --image main=registry.example.com/web:2 --pull-images never").Ends(2, "cannot ask for confirmation")
	if text := fmt.Sprint(s.Object("UnitedDeployment", "web").Object["spec"]); strings.Contains(text, "web:2") {
		t.Errorf("the template was written without an answer: %s", text)
	}
}

// TestUnited_SubsetBySubset: the second subset waits for the first, and abort takes both back.
func TestUnited_SubsetBySubset(t *testing.T) {
	s := story.Start(t, 5, united)
	run := "rollout run ud/web --steps 50%,100% --pause-after 50% --exit-on-pause --pull-images never --yes"
	s.Run(run + " --image main=registry.example.com/web:2").Ends(5)
	s.Has(subset, images{"zone-b web:1": 1, "zone-b web:2": 1, "zone-a web:1": 3})
	s.Run("rollout list").Ends(0, "uniteddeployment/web")
	s.Run("rollout promote ud/web --yes").Ends(0)
	s.Run(run).Ends(5)
	if got := s.Images(subset); got["zone-b web:2"] != 2 || got["zone-a web:2"] == 0 || got["zone-a web:1"] == 0 {
		t.Fatalf("%v", got)
	}
	s.Run("rollout abort ud/web").Ends(0, "subset zone-a: ")
	s.Run("rollout abort ud/web --rollback --yes").Ends(0)
	s.Has(subset, images{"zone-b web:1": 2, "zone-a web:1": 3})
	noneLeft(s)
}

// TestGroup_Detached: one Job carries the whole group out.
func TestGroup_Detached(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: kubectl-kruise}}")
	s.Apply(t, "kubectl-kruise", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: kubectl-kruise-runner}}")
	s.Run(group+" --steps 100% --group all --driver kruise --detach --runner-image registry.example.com/kubectl-kruise:v9").Ends(0, "job.batch/")
	jobs, err := s.Client.BatchV1().Jobs("kubectl-kruise").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	s.Run("", jobs.Items[0].Spec.Template.Spec.Containers[0].Args...).Ends(0)
	s.Has("", images{"web:2": 4})
	s.Run("rollout status --group all").Ends(0, "2 of 2 completed")
}

// TestGroup_EditedMember: a member whose record was edited to be done is not taken for completed, and no further one starts.
func TestGroup_EditedMember(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Run(group + " --steps 50%,100% --pause-after 1 --exit-on-pause --group all").Ends(5)
	back := saysDone(t, s, "rollout.cloneset.web-0", 3)
	s.Run("rollout resume --group all --exit-on-pause").Ends(3, "its record says that it is completed", "1 not started")
	s.Has("", images{"web:1": 3, "web:2": 1})
	back()
	s.Run("rollout promote --group all --exit-on-pause").Ends(5)
	s.Has("", images{"web:1": 1, "web:2": 3})
}

// TestWriteBack: the manifest has the new image when the rollout is done.
func TestWriteBack(t *testing.T) {
	text := story.CloneSet("web", "2", "web:1")
	s := story.Start(t, 2, text)
	file := s.File("web.yaml", text)
	s.Run("rollout run cloneset/web --steps 100% --write-back " + file + image2).Ends(0)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(text, "web:1", "web:2", 1); string(written) != want {
		t.Errorf("the manifest is\n%s", written)
	}
}
