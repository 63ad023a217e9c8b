package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const releaseOfWeb = `{"apiVersion": "rollouts.kruise.io/v1beta1", "kind": "Rollout",
  "metadata": {"name": "web", "namespace": "shop", "uid": "r1", "generation": 1},
  "spec": {"workloadRef": {"apiVersion": "apps.kruise.io/v1beta1", "kind": "CloneSet", "name": "web"},
    "strategy": {"canary": {"steps": [{"replicas": 1, "traffic": "5%"}, {"replicas": "100%", "pause": {"duration": 60}}]}}},
  "status": {"observedGeneration": 1, "phase": "PHASE", "message": "Rollout is in step(1/2)",
    "canaryStatus": {"currentStepIndex": 1, "currentStepState": "STATE", "canaryReplicas": 1, "canaryReadyReplicas": 1}}}`

// releaseServer serves a CloneSet and its Rollout; what is written is recorded.
func releaseServer(t *testing.T, phase, state string) (url string, wrote *[]string) {
	t.Helper()
	wrote = &[]string{}
	object := strings.NewReplacer("PHASE", phase, "STATE", state).Replace(releaseOfWeb)
	const base = "/apis/rollouts.kruise.io/v1beta1/namespaces/shop/rollouts"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		switch path := r.URL.Path; {
		case r.Method == http.MethodPatch:
			*wrote = append(*wrote, strings.TrimPrefix(path, base)+" "+string(body))
			_, _ = fmt.Fprint(w, object)
		case path == base:
			_, _ = fmt.Fprintf(w, `{"kind": "RolloutList", "apiVersion": "rollouts.kruise.io/v1beta1", "items": [%s]}`, object)
		case path == base+"/web":
			_, _ = fmt.Fprint(w, object)
		case path == "/apis/apps.kruise.io/v1beta1/namespaces/shop/clonesets/web":
			_, _ = fmt.Fprint(w, liveWeb)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, wrote
}

// TestRolloutVerbs_WorkOnAKruiseRollout: a Rollout of Kruise Rollout is looked at and written to under its own
// name, or under that of its workload.
func TestRolloutVerbs_WorkOnAKruiseRollout(t *testing.T) {
	const approved = `/web/status {"metadata":{"uid":"r1"},"status":{"canaryStatus":{"currentStepState":"StepReady"}}}`
	for _, c := range []struct {
		args, phase, state string
		code               int
		wrote, out, errOut string
	}{
		{args: "approve rollout/web", wrote: approved, out: "rollout.rollouts.kruise.io/web approved\n"},
		{args: "approve cloneset/web", wrote: approved, out: "rollout.rollouts.kruise.io/web approved\n"},
		{args: "approve ro.rollouts.kruise.io/web", wrote: approved, out: "approved"},
		{args: "approve rollout/web", state: "StepUpgrade", code: 1, errOut: "does not allow to approve, because current canary state is not 'StepPaused'"},
		{args: "approve rollout/api", code: 1, errOut: `Error from server (NotFound): rollouts.rollouts.kruise.io "api" not found`},
		{args: "approve pod/web", code: 2, errOut: "unknown type"},
		{args: "approve", code: 2, errOut: "give one"},
		{args: "approve rollout web", wrote: approved, out: "rollout.rollouts.kruise.io/web approved\n"},
		{args: "approve rollout/web rollout/api", wrote: approved, code: 1, out: "rollout.rollouts.kruise.io/web approved\n", errOut: `Error from server (NotFound): rollouts.rollouts.kruise.io "api" not found`},
		{args: "approve rollout/web -o name", wrote: approved, out: "rollout.rollouts.kruise.io/web\n"},
		{args: "approve rollout/web --dry-run", out: "rollout.rollouts.kruise.io/web approved (dry run)\n"},
		{args: "pause rollout/web --dry-run=client -o jsonpath={.metadata.name}", out: "web"},
		{args: "undo rollout/web --fast", code: 1, errOut: "already at the first step"},
		{args: "undo cloneset/web --fast", code: 2, errOut: "rollback is not supported on given object"},
		{args: "pause cloneset", code: 2, errOut: "is not TYPE/NAME"},
		{args: "restart", code: 2, errOut: "required resource not specified"},
		{args: "pause rollout/web", wrote: `/web {"metadata":{"uid":"r1"},"spec":{"strategy":{"paused":true}}}`, out: "rollout.rollouts.kruise.io/web paused\n"},
		{args: "resume rollout/web", code: 1, errOut: "is not paused"},
		{args: "status rollout/web --watch=false", out: "step 1 of 2, StepPaused: waits to be approved"},
		{args: "status rollout/web --watch=false", out: "next: kubectl kruise rollout approve rollout/web -n shop\n"},
		{args: "status rollout/web --watch=false", out: "> 1  1 of the pods, 5% of the traffic, stays until approved\n    2  100% of the pods, stays 1m0s\n"},
		{args: "status rollout/web --watch=false", phase: "Healthy", state: "Completed", out: "no release is in progress"},
		{args: "status rollout/web -o json -w=false", out: `"waitsForApproval": true`},
		{args: "promote cloneset/web", wrote: approved, out: "rollout.rollouts.kruise.io/web approved\n"},
		{args: "promote rollout/web", wrote: approved, out: "rollout.rollouts.kruise.io/web approved\n"},
		{args: "promote rollout web --dry-run", out: "rollout.rollouts.kruise.io/web approved (dry run)\n"},
		{args: "promote rollout/web --full", code: 2, errOut: "--full and --to are not for it"},
		{args: "promote cloneset/web --to 5", code: 2, errOut: "--full and --to are not for it"},
		{args: "promote rollout/web", state: "StepUpgrade", code: 1, errOut: "does not allow to approve"},
		{args: "retry cloneset/web", code: 1, errOut: "is controlled by Kruise Rollout web: step 1 of 2, StepPaused"},
	} {
		t.Run(c.args+" "+c.state, func(t *testing.T) {
			if c.phase == "" {
				c.phase = "Progressing"
			}
			if c.state == "" {
				c.state = "StepPaused"
			}
			url, wrote := releaseServer(t, c.phase, c.state)
			args := append([]string{"rollout"}, strings.Fields(c.args)...)
			code, out, errOut := call(t.Context(), t, "", append(args, "-n", "shop", "--server", url)...)
			if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errOut, c.errOut) || strings.Join(*wrote, "\n") != c.wrote {
				t.Errorf("exit %d, wrote %q\n%s\n%s", code, *wrote, out, errOut)
			}
		})
	}
}

// TestApprove_PromotesARolloutOfOurs: where no object of Kruise Rollout is for a workload, its recorded rollout is
// meant.
func TestApprove_PromotesARolloutOfOurs(t *testing.T) {
	url := brokenShop(t, nil)
	for args, want := range map[string]struct {
		code int
		said string
	}{
		"cloneset/web":         {1, "cloneset/web: no rollout is recorded"},
		"cloneset/web -o json": {2, "no Rollout of rollouts.kruise.io is for cloneset/web"},
	} {
		code, out, said := call(t.Context(), t, "", append([]string{"rollout", "approve", "-n", "shop", "--server", url}, strings.Fields(args)...)...)
		if code != want.code || !strings.Contains(said, want.said) {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, said)
		}
	}
}
