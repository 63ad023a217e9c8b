package rollout_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

const bad = "registry.example.com/web:bad"

// edited replaces text in the file of a command line "… -f FILE …".
func edited(t *testing.T, command, from, to string) {
	t.Helper()
	_, after, _ := strings.Cut(command, " -f ")
	file := strings.Fields(after)[0]
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// changes edits a ConfigMap, as who may write these and nothing else can.
func changes(s *story.Story, name, key, from, to string) {
	s.Helper()
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(s.Context(), name, metav1.GetOptions{})
	if err == nil {
		if !strings.Contains(cm.Data[key], from) {
			s.Fatalf("no %s in %s", from, cm.Data[key])
		}
		cm.Data[key] = strings.Replace(cm.Data[key], from, to, 1)
		_, err = maps.Update(s.Context(), cm, metav1.UpdateOptions{})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// TestGroup_RunsWavesWithinLimits: each wave waits for the one before, no more are in progress than may be, a
// dependency is waited for, and each kind of object is watched once.
func TestGroup_RunsWavesWithinLimits(t *testing.T) {
	s, group := waves(t, "0", "0", "0", "1", "1", "2")
	edited(t, group, `annotations: {wave: "1"}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web-4}}`, `annotations: {wave: "1", kubectl-kruise.dev/depends-on: cloneset/web-3}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web-4}}`)
	var mu sync.Mutex
	watches := map[string]int{}
	stop := s.Seen(func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Query().Get("watch") != "" {
			watches[r.URL.Path]++
		}
	})
	r := s.Run(group+" --steps 100% --parallel 2 --max-unavailable-total 2 -o json").Ends(0, "estimate: ", "at most 2 rollouts at a time, at most 2 pods unavailable")
	stop()
	mu.Lock()
	for path, n := range watches {
		if strings.Contains(path, "/namespaces/"+story.Namespace+"/") && (n > 2 || n > 1 && !strings.HasSuffix(path, "/configmaps") || strings.HasSuffix(path, "/leases")) {
			t.Errorf("%s is watched %d times", path, n)
		}
	}
	mu.Unlock()
	s.Has("", images{"web:2": 12})
	for line := range strings.Lines(r.Out) {
		var one struct {
			Type  string `json:"type"`
			Group struct {
				Members []struct {
					Name, Phase string
					Wave        int
				} `json:"members"`
			} `json:"group"`
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		active, open := 0, -1
		for i, m := range one.Group.Members {
			if m.Phase == "progressing" || m.Phase == "waiting" {
				active++
				if open >= 0 && open < m.Wave {
					t.Errorf("%s of wave %d is in progress before wave %d has ended", m.Name, m.Wave, open)
				}
			}
			if m.Phase != "completed" && open < 0 {
				open = m.Wave
			}
			if i == 4 && m.Phase == "progressing" && one.Group.Members[3].Phase != "completed" {
				t.Errorf("web-4 is in progress before web-3 is completed")
			}
		}
		if active > 2 {
			t.Errorf("%d are in progress", active)
		}
	}
}

// TestGroup_FailedIsTakenBack: a workload that fails stops the next wave; another that is in progress is carried out.
// The whole is rolled back by its name, and another group may follow.
func TestGroup_FailedIsTakenBack(t *testing.T) {
	s, group := waves(t, "0", "1", "1", "2")
	group += " --steps 100%"
	edited(t, group, `{app: web-1}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "registry.example.com/web:2"`, `{app: web-1}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "`+bad+`"`)
	s.Run(group).Ends(3, "failed: 1 rollout failed: cloneset/web-1; 1 not started")
	if got := s.Images("app"); got["web-0 web:2"] != 2 || got["web-2 web:2"] != 2 || got["web-3 web:1"] != 2 || got["web-1 web:2"] != 0 {
		t.Errorf("%v", got)
	}
	r := s.Run("rollout status --group shop").Ends(3)
	if !regexp.MustCompile(`(?m)^2 +cloneset/web-3 +pending +1 rollout failed, and the limit is 0$`).MatchString(r.Out) {
		t.Error(r.Out)
	}
	const said = "group shop: rolled back: 3 of 3 rolled back, 1 not started"
	s.Answering(strings.NewReader("n\n")).Run("rollout abort --group shop --rollback").Ends(1, "Roll back all rollouts of group shop (cloneset/web-0, cloneset/web-1, cloneset/web-2, cloneset/web-3)?", "nothing was changed")
	s.Run("rollout abort --group shop --rollback --yes").Ends(0, said)
	if r = s.Run("rollout status --group shop").Ends(0, said); !regexp.MustCompile(`(?m)^2 +cloneset/web-3 +not started`).MatchString(r.Out) {
		t.Error(r.Out)
	}
	s.Has("", images{"web:1": 8})
	edited(t, group, bad, "registry.example.com/web:2")
	s.Run(group).Ends(0)
	s.Has("", images{"web:2": 8})
}

// TestGroup_EditedRecordRunsNothing: who may write ConfigMaps alone gets nothing carried out by those who may do more.
func TestGroup_EditedRecordRunsNothing(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Run(group + " --steps 50%,100% --pause-after 1 --exit-on-pause --group all").Ends(5)
	changes(s, "rollout-group.all", "group", `"wave":1`, `"wave":0`)
	s.Run("rollout promote --group all").Ends(1, "is not one that you approved")
	s.Has("", images{"web:1": 3, "web:2": 1})
}

// TestGroup_DryRunWritesNothing: a dry run of a verb shows what it does to each rollout and the requests that follow.
func TestGroup_DryRunWritesNothing(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Run(group+" --group all --steps 50%,100% --pause-after 50% --dry-run=client").Ends(0, "PATCH", "/clonesets/web-0", "/clonesets/web-1")
	s.Run(group + " --group all --steps 50%,100% --pause-after 50% --exit-on-pause").Ends(5)
	before := s.Run("rollout status --group all").Ends(0).Out
	for verb, want := range map[string][]string{
		"pause":            {"group all: 1 of 2 rollouts changed (dry run)", "PATCH", "/clonesets/web-0"},
		"promote":          {"promoted past step", "(dry run)", "/clonesets/web-0"},
		"abort":            {"group all: 1 of 2 rollouts changed (dry run)", "/clonesets/web-0"},
		"abort --rollback": {"group all: 1 of 2 rollouts changed (dry run)", "/clonesets/web-0"},
	} {
		s.Run("rollout "+verb+" --group all --dry-run=client").Ends(0, want...)
	}
	if after := s.Run("rollout status --group all").Ends(0).Out; after != before {
		t.Errorf("a dry run has changed the group:\n%s\n%s", before, after)
	}
	s.Has("", images{"web:2": 1, "web:1": 3})
}

// TestGroup_TimeOfAStepCountsAgain: a rollout that no process has carried out for a day is not failed by the time limit
// of its step when another one continues it.
func TestGroup_TimeOfAStepCountsAgain(t *testing.T) {
	s, group := waves(t, "0", "1")
	asleep := func(value string) {
		patch := `{"metadata":{"annotations":{"lab.test/asleep":` + value + `}}}`
		if _, err := clones(s).Patch(s.Context(), "web-0", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	asleep(`"yes"`)
	r := s.Begin(group + " --group all --steps 100%")
	var cm *corev1.ConfigMap
	s.Await(t, "the template is written", func() bool {
		var err error
		cm, err = s.Client.CoreV1().ConfigMaps(story.Namespace).Get(t.Context(), "rollout.cloneset.web-0", metav1.GetOptions{})
		return err == nil && strings.Contains(cm.Data["record"], `"sent":1`)
	})
	r.Interrupt()
	r.End().Ends(130)
	changes(s, cm.Name, "record", regexp.MustCompile(`"started":"[^"]*"`).FindString(cm.Data["record"]), `"started":"2026-01-01T00:00:00Z"`)
	asleep("null")
	s.Run("rollout resume --group all").Ends(0, "group all: completed: 2 of 2 completed")
	s.Has("", images{"web:2": 4})
}

// TestGroup_WithoutMembers: a record of a group that was edited to have no members is refused by every verb.
func TestGroup_WithoutMembers(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Run(group + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause").Ends(5)
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(t.Context(), "rollout-group.all", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var none bytes.Buffer
	z := gzip.NewWriter(&none)
	_, _ = z.Write([]byte("[]"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	cm.Data["group"] = regexp.MustCompile(`"members":\[.*\]`).ReplaceAllString(cm.Data["group"], `"members":[]`)
	cm.BinaryData = map[string][]byte{"plans.json.gz": none.Bytes()}
	if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"status", "pause", "promote", "resume", "retry", "abort", "abort --rollback --yes", "drive --approved sha256:0"} {
		if r := s.Run("rollout " + verb + " --group all"); r.Code != 1 && r.Code != 3 || !strings.Contains(r.Err, "it has no members") {
			t.Errorf("%s: exit %d\n%s", verb, r.Code, r.Err)
		}
	}
}

// runner has what Jobs need.
func runner(s *story.Story) {
	s.Helper()
	s.Apply(s.T, "", "{apiVersion: v1, kind: Namespace, metadata: {name: kubectl-kruise}}")
	s.Apply(s.T, "kubectl-kruise", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: kubectl-kruise-runner}}")
}

const detach = " --driver kruise --detach --runner-image registry.example.com/kubectl-kruise:v9"

// argsOf is what the newest Job runs.
func argsOf(s *story.Story) []string {
	s.Helper()
	jobs, err := s.Client.BatchV1().Jobs("kubectl-kruise").List(s.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) == 0 {
		s.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	return jobs.Items[len(jobs.Items)-1].Spec.Template.Spec.Containers[0].Args
}

// TestGroup_DetachedOnResume: a Job carries on a group that another process has left, if its user has approved it; one
// that was edited since is not carried out, and no other runner tries.
func TestGroup_DetachedOnResume(t *testing.T) {
	s, group := waves(t, "0", "1")
	runner(s)
	s.Run(group + " --group all --driver kruise --exit-on-pause --pause-after 1 --steps 50%,100%").Ends(5)
	resume := "rollout resume --group all" + strings.Replace(detach, " --driver kruise", "", 1)
	s.Run(resume).Ends(0)
	args := argsOf(s)
	changes(s, "rollout-group.all", "group", `"wave":1`, `"wave":-1`)
	s.Run("", args...).Ends(3, "not one that you approved", "was edited")
	changes(s, "rollout-group.all", "group", `"wave":-1`, `"wave":1`)
	job := s.Begin("", args...)
	s.Await(t, "all pods are updated", func() bool {
		s.Run("rollout promote --group all --no-wait")
		return s.Images("")["web:2"] == 4
	})
	job.End().Ends(0, "group all: completed")
}

// TestGroup_DetachedByAManifest: what is printed for a group carries it out, from plans that cannot be changed, and
// again does nothing.
func TestGroup_DetachedByAManifest(t *testing.T) {
	s, group := waves(t, "0", "1")
	runner(s)
	group += " --steps 100%"
	r := s.Run(group+" --group all --parallel 1 --manifest"+detach).Ends(0, "group all: sha256:")
	s.Has("", images{"web:1": 4})
	plans, args := manifest(s, r.Out)
	play := func(file string) *story.Result {
		var mine []string
		for _, arg := range args {
			mine = append(mine, strings.ReplaceAll(arg, "/etc/kubectl-kruise/plan.yaml", file))
		}
		return s.Run("", mine...)
	}
	play(s.File("edited.yaml", strings.Replace(plans, "parallel: 1", "parallel: 2", 1))).Ends(3, "was approved")
	s.Has("", images{"web:1": 4})
	file := s.File("plan.yaml", plans)
	play(file).Ends(0, "group all: completed")
	s.Has("", images{"web:2": 4})
	play(file).Ends(0, "completed already")
	edited(t, group, "web:2", "web:3")
	edited(t, group, "web:2", "web:3")
	s.Run(group + " --group all").Ends(0)
	play(file).Ends(3, "the plan does not fit")
}

// manifest is what a printed ConfigMap has, and what its Job runs.
func manifest(s *story.Story, text string) (plans string, args []string) {
	s.Helper()
	var cm corev1.ConfigMap
	var j batchv1.Job
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	if err := d.Decode(&cm); err != nil {
		s.Fatal(err)
	}
	if err := d.Decode(&j); err != nil {
		s.Fatal(err)
	}
	if cm.Immutable == nil || !*cm.Immutable {
		s.Error("the plans can be changed")
	}
	return cm.Data["plan.yaml"], j.Spec.Template.Spec.Containers[0].Args
}

// TestGroup_RolledBackWhileDriven: abort --rollback works while another process carries the group out: that one lets
// go, and the user's own rolls back.
func TestGroup_RolledBackWhileDriven(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"a process", "a Job"} {
		t.Run(by, func(t *testing.T) {
			s, group := waves(t, "0", "0", "1")
			group += " --steps 50%,100% --pause-after 50% --group all"
			var other *story.Running
			if by == "a Job" {
				runner(s)
				s.Run(group+detach).Ends(0, "job.batch/rollout-all-")
				other = s.Begin("", argsOf(s)...)
			} else {
				other = s.Begin(group)
			}
			s.Reaches("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 1, "web-1 web:2": 1, "web-2 web:1": 2})
			s.Run("rollout abort --group all --rollback --yes").Ends(0)
			s.Has("", images{"web:1": 6})
			if by == "a Job" {
				other.End().Ends(3, "continues when that process stops")
			} else {
				other.End().Ends(1)
			}
		})
	}
}

// TestGroup_DetachedIsSteered: users steer and watch a group of a Job from elsewhere; a second Job takes over what the
// first has left, and a web hook hears of each rollout.
func TestGroup_DetachedIsSteered(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Type string }
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		told[e.Type[strings.LastIndex(e.Type, ".")+1:]]++
	}))
	t.Cleanup(hook.Close)
	s, group := waves(t, "0", "0", "1")
	runner(s)
	s.Run(group + " --steps 50%,100% --pause-after 50% --group all --notify " + hook.URL + detach).Ends(0)
	args := argsOf(s)
	first := s.Begin("", args...)
	half := images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 1, "web-1 web:2": 1, "web-2 web:1": 2}
	s.Reaches("app", half)
	watching := s.Begin("rollout status --group all --watch")
	if r := s.Run("rollout list").Ends(0, "GROUP"); strings.Count(r.Out, " all ") != 2 {
		t.Errorf("rollout list does not name the group:\n%s", r.Out)
	}
	s.Run("rollout resume --group all --detach --runner-image registry.example.com/kubectl-kruise:v9").Ends(1)
	first.Interrupt()
	first.End().Ends(130)
	second := s.Begin("", args...)
	s.Await(t, "all pods are updated", func() bool {
		s.Run("rollout promote --group all --no-wait")
		return s.Images("")["web:2"] == 6
	})
	second.End().Ends(0, "group all: completed: 3 of 3 completed")
	watching.End().Ends(0, "group all: completed: 3 of 3 completed")
	mu.Lock()
	defer mu.Unlock()
	for kind, least := range map[string]int{"started": 3, "waiting": 3, "completed": 3} {
		if told[kind] < least {
			t.Errorf("the web hook was told of %d %s: %v", told[kind], kind, told)
		}
	}
}
