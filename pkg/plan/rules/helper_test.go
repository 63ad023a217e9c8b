package rules

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// All tests use one moment, an hour after the first pod was created.
var (
	t0  = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	now = t0.Add(time.Hour)
)

func itoa(n int) string { return strconv.Itoa(n) }

// value reads a number or a text as YAML would.
func value(text string) *intstr.IntOrString {
	v := intstr.Parse(text)
	return &v
}

// pod makes a bound, running, ready pod of a revision.
func pod(name, revision string) *cluster.Pod {
	p := &cluster.Pod{
		Name: name, UID: name, Node: "n-" + name, Phase: corev1.PodRunning, Created: t0,
		Labels:     map[string]string{cluster.RevisionLabel: "web-" + revision},
		Containers: []cluster.Container{{Name: "main", Image: "web:1", Reported: true, StatusImage: "web:1", ImageID: "sha256:1", Ready: true}},
	}
	setReady(p, true, t0)
	return p
}

func setReady(p *cluster.Pod, ready bool, since time.Time) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	p.Conditions = []cluster.Condition{
		{Type: string(corev1.PodReady), Status: status, Since: since},
		{Type: string(corev1.PodScheduled), Status: corev1.ConditionTrue, Since: since},
	}
}

func setState(p *cluster.Pod, s LifecycleState) { p.Labels[kruise.LifecycleStateLabel] = string(s) }

// pods makes pods from words such as "o", "n!" and "o-": the revision, then
// flags: ! not ready, - marked for deletion, = PreparingDelete, ^ terminating,
// ~ PreparingUpdate. They are named p1, p2 … and p1 became ready first.
func pods(t *testing.T, text string) []*cluster.Pod {
	t.Helper()
	var out []*cluster.Pod
	for word := range strings.FieldsSeq(text) {
		word, count := repeated(t, word)
		for range count {
			out = append(out, flagged(t, fmt.Sprintf("p%d", len(out)+1), word))
		}
	}
	for i, p := range out {
		at := t0.Add(time.Duration(i) * time.Minute)
		p.Created = at
		setReady(p, podReady(p), at.Add(time.Second))
	}
	return out
}

// repeated reads "7*o" as seven times o.
func repeated(t *testing.T, word string) (string, int) {
	t.Helper()
	times, rest, ok := strings.Cut(word, "*")
	if !ok {
		return word, 1
	}
	n, err := strconv.Atoi(times)
	if err != nil {
		t.Fatal(err)
	}
	return rest, n
}

func flagged(t *testing.T, name, word string) *cluster.Pod {
	t.Helper()
	revision := strings.TrimRight(word, "!-=^~")
	p := pod(name, revision)
	for _, flag := range word[len(revision):] {
		switch flag {
		case '!':
			setReady(p, false, t0)
		case '-':
			p.Labels[kruise.SpecifiedDeleteLabel] = "true"
		case '=':
			setState(p, StatePreparingDelete)
		case '^':
			p.Deleting = true
		case '~':
			setState(p, StatePreparingUpdate)
		default:
			t.Fatalf("unknown flag %q", flag)
		}
	}
	return p
}

// names joins the names of pods, in order.
func names(list []*cluster.Pod) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.Name
	}
	return strings.Join(out, " ")
}
