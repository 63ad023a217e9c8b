package rollout_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// regroups edits the record of a group and its plans, as who may write ConfigMaps and nothing else can.
func regroups(s *story.Story, name string, edit func(group map[string]any, plans []string) []string) {
	s.Helper()
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(s.Context(), "rollout-group."+name, metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	text := unpacked(s.T, cm.BinaryData["plans.json.gz"])
	var plans []string
	group := map[string]any{}
	if err := json.Unmarshal(text, &plans); err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal([]byte(cm.Data["group"]), &group); err != nil {
		s.Fatal(err)
	}
	plans = edit(group, plans)
	if text, err = json.Marshal(plans); err != nil {
		s.Fatal(err)
	}
	cm.BinaryData = map[string][]byte{"plans.json.gz": packed(text)}
	if text, err = json.Marshal(group); err != nil {
		s.Fatal(err)
	}
	cm.Data["group"] = string(text)
	if _, err := maps.Update(s.Context(), cm, metav1.UpdateOptions{}); err != nil {
		s.Fatal(err)
	}
}

func unpacked(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err == nil {
		text, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// packed is text as records have it.
func packed(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}

// TestGroup_RecordEditedWhileItRuns: a process that carries a group out has the members and the limits with which it
// began, whatever the record has become.
func TestGroup_RecordEditedWhileItRuns(t *testing.T) {
	for name, edit := range map[string]func(map[string]any, []string) []string{
		"a member less": func(g map[string]any, plans []string) []string {
			g["members"] = g["members"].([]any)[:1]
			return plans[:1]
		},
		"members swapped": func(g map[string]any, plans []string) []string {
			m := g["members"].([]any)
			m[0], m[2] = m[2], m[0]
			return []string{plans[2], plans[1], plans[0]}
		},
		"no waves": func(g map[string]any, plans []string) []string {
			for _, m := range g["members"].([]any) {
				delete(m.(map[string]any), "wave")
			}
			return plans
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, group := waves(t, "0", "1", "2")
			s.Begin(group + " --group all --steps 50%,100% --pause-after 1")
			s.Reaches("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 2, "web-2 web:1": 2})
			regroups(s, "all", edit)
			s.Run("rollout pause --group all")
			time.Sleep(2 * time.Second)
			s.Has("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 2, "web-2 web:1": 2})
		})
	}
}

// TestGroup_BegunAgainWhileItIsWatched: who watches a group is told that another one of its name has begun.
func TestGroup_BegunAgainWhileItIsWatched(t *testing.T) {
	s, group := waves(t, "0", "1", "2")
	s.Run(group + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause").Ends(5)
	watching := s.Begin("rollout status --group all --watch -o json")
	time.Sleep(time.Second)
	regroups(s, "all", func(g map[string]any, plans []string) []string {
		g["begun"], g["members"] = "2199-01-01T00:00:00Z", g["members"].([]any)[:1]
		return plans[:1]
	})
	watching.End().Ends(1, "has begun another group")
}

// whenAsked does something when the first answer is read, and says yes to everything.
type whenAsked struct {
	do   func()
	once sync.Once
}

// Read is one answer.
func (w *whenAsked) Read(p []byte) (int, error) {
	w.once.Do(w.do)
	return copy(p, "y\n"), nil
}

// TestGroup_ShowsWhatItStarts: of a group that was not approved here, a user is shown each plan before it starts, even
// if a record said at that moment that it was in progress.
func TestGroup_ShowsWhatItStarts(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Run(group + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause").Ends(5)
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	cm, err := maps.Get(t.Context(), "rollout.cloneset.web-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var plan string
	regroups(s, "all", func(g map[string]any, plans []string) []string {
		delete(g["members"].([]any)[1].(map[string]any), "wave")
		plan = plans[1]
		return plans
	})
	forged := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "rollout.cloneset.web-1", Labels: map[string]string{"kubectl-kruise.dev/rollout-of": "cloneset.web-1"}},
		Data:       map[string]string{"record": strings.ReplaceAll(cm.Data["record"], "web-0", "web-1")},
		BinaryData: map[string][]byte{"plan.yaml.gz": packed([]byte(plan)), "base.json.gz": cm.BinaryData["base.json.gz"]},
	}
	if _, err := maps.Create(t.Context(), forged, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := s.AnotherMachine().Answering(&whenAsked{do: func() {
		if err := maps.Delete(t.Context(), forged.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}}).Run("rollout resume --group all --exit-on-pause")
	if strings.Contains(r.Err, "Plan for cloneset/web-1") {
		t.Fatalf("it was shown:\n%s", r.Err)
	}
	s.Has("app", images{"web-0 web:1": 1, "web-0 web:2": 1, "web-1 web:1": 2})
}

// TestGroup_RollsNothingBackElsewhere: a member in another namespace that others have written into the record of a
// group is not rolled back with it, also where its rollout is completed.
func TestGroup_RollsNothingBackElsewhere(t *testing.T) {
	s, group := waves(t, "0", "1")
	s.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: prod}}")
	s.Apply(t, "prod", story.CloneSet("bank", "2", "web:1"))
	s.Await(t, "pods are ready", func() bool { return len(s.Ready(t, "prod")) == 2 })
	s.Run("-n prod rollout run cloneset/bank --image main=registry.example.com/web:2 --pull-images never --yes").Ends(0)
	cm, err := s.Client.CoreV1().ConfigMaps("prod").Get(t.Context(), "rollout.cloneset.bank", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Run(group + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause").Ends(5)
	regroups(s, "all", func(g map[string]any, plans []string) []string {
		members := g["members"].([]any)
		members[1] = map[string]any{"workload": map[string]any{"Group": "apps.kruise.io", "Kind": "CloneSet", "Namespace": "prod", "Name": "bank"}}
		return []string{plans[0], string(unpacked(t, cm.BinaryData["plan.yaml.gz"]))}
	})
	r := s.AnotherMachine().Run("rollout abort --group all --rollback --yes")
	for _, p := range s.Pods(t, "prod") {
		if image := p.Spec.Containers[0].Image; image != "registry.example.com/web:2" {
			t.Errorf("it was rolled back to %s\n%s\n%s", image, r.Out, r.Err)
		}
	}
	if r.Code != 1 || !strings.Contains(r.Err, "rollouts in other namespaces are as they were") {
		t.Errorf("exit %d\n%s\n%s", r.Code, r.Out, r.Err)
	}
}

// TestUnited_EditedRecordRollsNothingBack: a UnitedDeployment is rolled back after a failure if the plan that was carried
// out says so, whatever the record of its subset says then.
func TestUnited_EditedRecordRollsNothingBack(t *testing.T) {
	s := unitedOf(t, "cloneSetTemplate")
	r := s.Begin("rollout run ud/web --image main=registry.example.com/web:2 --pull-images never --yes --steps 50%,100% --pause-after 50%")
	s.Reaches(subset, images{"zone-b web:2": 1, "zone-b web:1": 1, "zone-a web:1": 3})
	maps := s.Client.CoreV1().ConfigMaps(story.Namespace)
	var cm *corev1.ConfigMap
	s.Await(t, "it waits", func() bool {
		list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "kubectl-kruise.dev/rollout-of"})
		if err != nil || len(list.Items) != 1 {
			t.Fatal(len(list.Items), err)
		}
		cm = &list.Items[0]
		return strings.Contains(cm.Data["record"], `"step":1`)
	})
	plan := string(unpacked(t, cm.BinaryData["plan.yaml.gz"]))
	cm.BinaryData["plan.yaml.gz"] = packed([]byte(strings.ReplaceAll(plan, "onFailure: pause", "onFailure: rollback")))
	cm.Data["record"] = strings.Replace(cm.Data["record"], `"progress":{`, `"progress":{"halted":"crash: it ends",`, 1)
	if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	res := r.End()
	if got := s.Images(subset); got["zone-b web:2"] == 0 {
		t.Errorf("it was rolled back: %v\nexit %d\n%s\n%s", got, res.Code, res.Out, res.Err)
	}
}
