package clusterread

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/diagnose"
)

const evidenceWeb = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop, uid: u1, generation: 3}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: "web:2"}]}}
status: {observedGeneration: 3, replicas: 5, currentRevision: web-old, updateRevision: web-new, updatedReplicas: 1}
`

var evidenceNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// askedOf is a rollout of five pods, of which one is new, that asks Prometheus at an address.
func askedOf(t *testing.T, prometheus string) diagnose.Question {
	t.Helper()
	n, err := yaml.Parse(evidenceWeb)
	if err != nil {
		t.Fatal(err)
	}
	w, err := cluster.ReadWorkload(n.YNode())
	if err != nil {
		t.Fatal(err)
	}
	q := diagnose.Question{Name: "cloneset/web", Begun: true, Holder: "ci", Now: evidenceNow}
	q.Snapshot = plan.Snapshot{Version: "1", Workload: w}
	for i := range 5 {
		p := &cluster.Pod{
			Namespace: "shop", Name: fmt.Sprintf("web-%d", i), UID: fmt.Sprint(i), Labels: map[string]string{cluster.RevisionLabel: "web-old", "app": "web"},
			Owner: cluster.Owner{Kind: "CloneSet", Name: "web", UID: "u1"}, Phase: corev1.PodRunning, Created: evidenceNow.Add(-time.Hour),
			Conditions: []cluster.Condition{{Type: "Ready", Status: corev1.ConditionTrue, Since: evidenceNow.Add(-time.Minute)}},
			Containers: []cluster.Container{{Name: "app", Image: "web:1", Reported: true, Ready: true}},
		}
		if i == 0 {
			p.Labels[cluster.RevisionLabel], p.Containers[0].Image = "web-new", "web:2"
			p.Containers[0].Restarts, p.Containers[0].Ended = 2, "OOMKilled, exit code 137"
		}
		q.Snapshot.Pods = append(q.Snapshot.Pods, p)
	}
	q.Plan = plan.CurrentSpecPlan(q.Snapshot)
	if prometheus != "" {
		ask := func(name, query string) plan.Step {
			return plan.Step{Name: name, Kind: plan.StepVerify, Verify: &plan.Verify{Prometheus: prometheus, Query: query, Threshold: "< 0.01"}}
		}
		q.Plan.Steps = append(q.Plan.Steps, ask("verify-1", "errors"), ask("verify-2", "errors"), ask("verify-3", "latency"))
	}
	return q
}

// evidenceServer answers for logs of pods and for Prometheus; logs says what a pod's log is.
func evidenceServer(t *testing.T, logs func(w http.ResponseWriter, r *http.Request, pod string)) (kubernetes.Interface, string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/shop/pods/"); ok {
			logs(w, r, strings.TrimSuffix(rest, "/log"))
			return
		}
		if r.URL.Path == "/api/v1/query" {
			value := map[string]string{"errors": "0.5", "latency": "0.001"}[r.URL.Query().Get("query")]
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[1,%q]}}`, value)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	core, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return core, s.URL
}

func approvedAll(context.Context, *plan.Plan) bool { return true }

// TestRead_AsksNoAddressOfAPlanThatWasNotApproved: who may edit the stored plan chooses its
// addresses, so no request leaves for a plan that this user did not approve here.
func TestRead_AsksNoAddressOfAPlanThatWasNotApproved(t *testing.T) {
	var asks atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asks.Add(1) }))
	defer s.Close()
	core, _ := evidenceServer(t, func(http.ResponseWriter, *http.Request, string) {})
	for name, r := range map[string]EvidenceReader{
		"no approvals": {Core: core},
		"not approved": {Core: core, Approved: func(context.Context, *plan.Plan) bool { return false }},
	} {
		c := r.Read(t.Context(), askedOf(t, s.URL))
		if asks.Load() != 0 || len(c.Checks) != 0 || len(c.Skipped) != 1 || c.Skipped[0].Part != "queries of the plan" {
			t.Errorf("%s: %d requests, %+v, skipped %+v", name, asks.Load(), c.Checks, c.Skipped)
		}
	}
}

func logLine(ago time.Duration, text string) string {
	return evidenceNow.Add(-ago).Format(time.RFC3339Nano) + " " + text + "\n"
}

// TestReadEvidence_IsBounded: new pods stand beside old ones, of a bounded sample of the logs, and each query
// of the plan is asked once.
func TestReadEvidence_IsBounded(t *testing.T) {
	var old atomic.Int32
	core, address := evidenceServer(t, func(w http.ResponseWriter, r *http.Request, pod string) {
		for _, bound := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
			if r.URL.Query().Get(bound) == "" {
				t.Errorf("%s: the log has no bound %s", pod, bound)
			}
		}
		if pod == "web-0" {
			fmt.Fprint(w, logLine(50*time.Second, "ERROR one"), logLine(40*time.Second, "INFO two"), logLine(time.Second, "ERROR three"))
			return
		}
		old.Add(1)
		fmt.Fprint(w, logLine(50*time.Second, "INFO fine"))
	})
	c := EvidenceReader{Core: core, Approved: approvedAll}.Read(t.Context(), askedOf(t, address))
	if c.New.Pods != 1 || c.Old.Pods != 4 || c.New.Ready != 1 || c.Old.Ready != 4 || c.New.Restarts != 2 || len(c.New.Ends) != 1 || c.Old.Restarts != 0 {
		t.Errorf("%+v", c)
	}
	if c.New.Logs == nil || c.New.Logs.Errors != 2 || c.New.Logs.PerMinute != 2 || c.Old.Logs == nil || c.Old.Logs.Errors != 0 || c.Old.Logs.Pods != 3 || old.Load() != 3 {
		t.Errorf("new %+v, old %+v, %d logs of old pods", c.New.Logs, c.Old.Logs, old.Load())
	}
	if len(c.Checks) != 2 || c.Checks[0].Good || c.Checks[0].Answer != "0.5 is not < 0.01" || !c.Checks[1].Good || len(c.Skipped) != 0 {
		t.Errorf("%+v, skipped %+v", c.Checks, c.Skipped)
	}
}

// TestRead_NamesWhatIsForbidden: what the caller may not read is named, and all else is there; it asks
// for no second log where the first is refused.
func TestRead_NamesWhatIsForbidden(t *testing.T) {
	var calls atomic.Int32
	core, address := evidenceServer(t, func(w http.ResponseWriter, _ *http.Request, pod string) {
		calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
			Message: "pods \"" + pod + "\" is forbidden: cannot get resource pods/log",
		})
	})
	c := EvidenceReader{Core: core, Approved: approvedAll}.Read(t.Context(), askedOf(t, address))
	if len(c.Skipped) != 2 || c.New.Logs != nil || c.Old.Logs != nil || c.Old.Ready != 4 || len(c.Checks) != 2 || calls.Load() != 2 {
		t.Errorf("%+v after %d calls", c, calls.Load())
	}
	for i, part := range []string{"logs of the new pods", "logs of the old pods"} {
		if s := c.Skipped[i]; s.Part != part || !strings.Contains(s.Why, "no permission") {
			t.Errorf("%+v", s)
		}
	}
}

// TestRead_GivesUpAtTheDeadline: what does not answer is given up at the deadline, and nothing else waits
// for it.
func TestRead_GivesUpAtTheDeadline(t *testing.T) {
	over := make(chan struct{})
	core, address := evidenceServer(t, func(_ http.ResponseWriter, r *http.Request, pod string) {
		if pod == "web-0" {
			return
		}
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	defer close(over)
	c := EvidenceReader{Core: core, Approved: approvedAll, Deadline: 200 * time.Millisecond}.Read(t.Context(), askedOf(t, address))
	if len(c.Skipped) != 1 || c.Skipped[0].Part != "logs of the old pods" || c.Skipped[0].Why != "no answer in time" || c.New.Logs == nil || len(c.Checks) != 2 {
		t.Errorf("%+v, new %+v", c, c.New.Logs)
	}
}

// TestRead_OfAnEditedPlanAsksPrometheusOnly: a plan that was edited has nothing run or asked but
// Prometheus.
func TestRead_OfAnEditedPlanAsksPrometheusOnly(t *testing.T) {
	core, _ := evidenceServer(t, func(http.ResponseWriter, *http.Request, string) {})
	q := askedOf(t, "")
	q.Plan.Steps = append(q.Plan.Steps, plan.Step{Name: "verify-1", Verify: &plan.Verify{Command: []string{"false"}}}, plan.Step{Name: "verify-2", Verify: &plan.Verify{URL: "http://127.0.0.1:1/"}},
		plan.Step{Name: "verify-3", Verify: &plan.Verify{Prometheus: "http://169.254.169.254", Query: "up", Threshold: "> 0"}})
	c := EvidenceReader{Core: core, Approved: approvedAll}.Read(t.Context(), q)
	if len(c.Checks) != 1 || c.Checks[0].Good || c.Checks[0].Step != "verify-3" {
		t.Errorf("%+v %+v", c.Checks, c.Skipped)
	}
}
