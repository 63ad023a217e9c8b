package standin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// wait lets the step go on until it has come to its recorded end and stays there,
// and returns how the end differs. A step that was recorded for so many seconds
// ends as soon as things stand as they did then: machines differ in speed.
func (s *stage) wait(ctx context.Context, act conformance.RolloutAct, recorded conformance.RolloutStep) error {
	differs := func() error { return errors.Join(s.sameActs(recorded), s.sameState(ctx, recorded.After)) }
	d, settle := act.Wait()
	if settle {
		if err := s.settle(ctx, differs); err != nil {
			return err
		}
		return differs()
	}
	if d == 0 {
		// The state was recorded before anything had happened, the acts a little later.
		differs = func() error { return s.sameActs(recorded) }
	}
	if err := s.pause(ctx, d*7/10); err != nil {
		return err
	}
	for limit := time.Now().Add(2*d + stillest); ; {
		err := differs()
		if err == nil || time.Now().After(limit) {
			return err
		}
		if err := s.pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// still is for how long nothing may happen at an end that is as recorded; at any
// other it takes longer, as something may come yet. Containers start in a second.
const (
	still    = 1500 * time.Millisecond
	stillest = 15 * time.Second
)

// settle waits until nothing happens any more.
func (s *stage) settle(ctx context.Context, differs func() error) error {
	longest := max(s.script.Still(), stillest)
	for {
		if _, quiet := s.now(); quiet > longest || quiet > still && differs() == nil {
			return nil
		}
		if err := s.pause(ctx, 250*time.Millisecond); err != nil {
			return err
		}
	}
}

// wantedIn is how many pods the recorded owner should have after a step.
func wantedIn(r conformance.RolloutStep) int {
	for _, doc := range append([]map[string]any{r.After.Workload}, r.After.Others...) {
		field, key := "spec", "replicas"
		if doc["kind"] == "DaemonSet" {
			field, key = "status", "desiredNumberScheduled"
		}
		part, _ := doc[field].(map[string]any)
		switch n := part[key].(type) {
		case int:
			return n
		case float64:
			return int(n)
		}
	}
	return 0
}

func sameAnswers(r conformance.RolloutStep, got []bool) error {
	var want []bool
	for _, one := range r.Trace.Result {
		want = append(want, one.Accepted)
	}
	return conformance.Different("what was accepted", cmp.Diff(want, got))
}

// acting are the ops by which controllers act on pods.
var acting = []string{"inPlaceUpdate", "applyImages", "sidecarUpdate", "markDelete", "delete", "create"}

func (s *stage) sameActs(r conformance.RolloutStep) error {
	want := map[string]int{}
	for _, op := range r.Trace.Trace {
		if slices.Contains(acting, op.Op) {
			want[op.Op]++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return conformance.Different("what was done to pods", cmp.Diff(want, s.acts))
}

func (s *stage) sameExtremes(r conformance.RolloutStep) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := map[string]int{}
	for name := range s.extremes {
		if n, ok := r.Trace.Summary[name].(float64); ok {
			want[name] = int(n)
		}
	}
	return conformance.Different("the extremes", cmp.Diff(want, s.extremes))
}

// sameState compares how many pods there are of which kind.
func (s *stage) sameState(ctx context.Context, r conformance.RolloutState) error {
	spelling, err := s.spelling(ctx, r)
	if err != nil {
		return err
	}
	want, got := []string{}, []string{}
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Owner == s.owner.GetKind()+"/"+s.owner.GetName() {
			want = append(want, recordedPod(p))
		}
	}
	pods, _ := s.now()
	for _, p := range pods {
		got = append(got, spelling.Replace(ourPod(p)))
	}
	slices.Sort(want)
	slices.Sort(got)
	return conformance.Different("the pods at the end", cmp.Diff(want, got))
}

func recordedPod(p *conformance.RolloutPod) string {
	label := p.Labels["controller-revision-hash"]
	ready := slices.ContainsFunc(p.Conditions, func(c conformance.RolloutCondition) bool {
		return c.Type == "Ready" && c.Status == "True"
	})
	var images []string
	for _, c := range p.Containers {
		images = append(images, c.Image)
	}
	return podText(label[strings.LastIndexByte(label, '-')+1:], p.Labels, ready, p.DeletionTimestamp != nil, images)
}

func ourPod(p *corev1.Pod) string {
	var images []string
	for i := range p.Spec.Containers {
		images = append(images, p.Spec.Containers[i].Image)
	}
	return podText(revision(p), p.Labels, isReady(p), p.DeletionTimestamp != nil, images)
}

func podText(revision string, labels map[string]string, ready, deleting bool, images []string) string {
	return fmt.Sprintf("%s %s ready=%v deleting=%v %s", revision, labels["lifecycle.apps.kruise.io/state"], ready, deleting, strings.Join(images, ","))
}

// spelling replaces our hashes of revisions by the recorded ones, which for daemon
// sets hang on how a program prints its memory.
func (s *stage) spelling(ctx context.Context, r conformance.RolloutState) (*strings.Replacer, error) {
	list, err := s.client.AppsV1().ControllerRevisions(s.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i := range list.Items {
		ours, err := cluster.ReadRevision(&list.Items[i])
		if err != nil {
			return nil, err
		}
		for _, theirs := range r.Revisions {
			if rules.SameTemplate(ours.Template, theirs.Template) {
				pairs = append(pairs, cluster.Hash(ours.Name), cluster.Hash(theirs.Name))
			}
		}
	}
	return strings.NewReplacer(pairs...), nil
}

func encode(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}
