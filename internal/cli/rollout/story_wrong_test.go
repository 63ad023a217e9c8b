package rollout_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// TestWrongContext: what a user has approved for one cluster is not approved for another one with the same objects and the
// same record.
func TestWrongContext(t *testing.T) {
	s := web(t)
	s.Run("rollout run cloneset/web --steps 1,100% --pause-after 1 --exit-on-pause" + image2).Ends(5)
	wrong := s.Elsewhere(4, story.CloneSet("web", "4", "web:1"))
	cm, err := s.Client.CoreV1().ConfigMaps(story.Namespace).Get(t.Context(), "rollout.cloneset.web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cm.ObjectMeta = metav1.ObjectMeta{Name: cm.Name, Namespace: cm.Namespace, Labels: cm.Labels}
	if _, err := wrong.Client.CoreV1().ConfigMaps(story.Namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	wrong.Run("rollout promote cloneset/web").Ends(1, "the recorded plan is not one that you approved")
	wrong.Has("", images{"web:1": 4})
}

// TestGroup_OfOthers: a record of a group may be edited by who writes in its namespace. By it alone no rollout of another
// namespace is paused or aborted; on the machine where the group was approved, all are.
func TestGroup_OfOthers(t *testing.T) {
	const theirs = "bank"
	s := story.Start(t, 2, story.CloneSet("web", "2", "web:1"))
	s.Apply(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: "+theirs+"}}")
	s.Apply(t, theirs, story.CloneSet("vault", "2", "web:1"))
	s.Await(t, "pods are ready", func() bool { return len(s.Ready(t, theirs)) == 2 })
	in := func(namespace, name string) string {
		return strings.Replace(story.CloneSet(name, "2", "web:2"), "labels:", "namespace: "+namespace+", labels:", 1)
	}
	both := in(story.Namespace, "web") + "---\n" + in(theirs, "vault")
	s.Run("rollout run -f " + s.File("both.yaml", both) + " --group all --steps 50%,100% --pause-after 1 --exit-on-pause --pull-images never --yes --namespace=").Ends(5)
	held := func(namespace, name string) bool {
		t.Helper()
		cm, err := s.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "rollout.cloneset."+name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(cm.Data["record"], `"held`)
	}
	edit := func(from, to string) {
		t.Helper()
		maps := s.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
		cm, err := maps.Get(t.Context(), "rollout-group.all", metav1.GetOptions{})
		if err != nil || !strings.Contains(cm.Data["group"], from) {
			t.Fatalf("%v: no %s in %v", err, from, cm.Data)
		}
		cm.Data["group"] = strings.Replace(cm.Data["group"], from, to, 1)
		if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	edit(`"limits":{}`, `"limits":{"parallel":9}`)
	s.Run("rollout pause --group all --namespace=").Ends(1, "group all: 0 of 2 rollouts changed", "bank/cloneset/vault")
	if held(story.Namespace, "web") || held(theirs, "vault") {
		t.Errorf("paused: web %t, vault %t", held(story.Namespace, "web"), held(theirs, "vault"))
	}
	edit(`"limits":{"parallel":9}`, `"limits":{}`)
	s.Run("rollout pause --group all --namespace=").Ends(0)
	if !held(theirs, "vault") {
		t.Error("who has approved the group does not pause it")
	}
	edit(`"limits":{}`, `"limits":{"parallel":9}`)
	s.Run("rollout abort --group all --rollback --yes --namespace=").Ends(1, "bank/cloneset/vault")
	if pods := s.Ready(t, theirs); len(pods) != 2 || pods[0].Spec.Containers[0].Image == pods[1].Spec.Containers[0].Image {
		t.Error("it was rolled back")
	}
}
