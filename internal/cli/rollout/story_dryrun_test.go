package rollout_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/story"
)

// writes are the requests of commands that would change something, from now on until the function returned is called:
// those that are only asked for, and those that are sent, without records and Leases.
func writes(s *story.Story) func() (asked, sent []string) {
	s.Helper()
	var mu sync.Mutex
	var asked, sent []string
	besides := []string{"leases", "events", "configmaps", "selfsubjectaccessreviews"}
	stop := s.Seen(func(r *http.Request) {
		path := strings.Split(r.URL.Path, "/")
		resource := ""
		for i, part := range path {
			if part == "namespaces" && i+2 < len(path) {
				resource = path[i+2]
			}
		}
		if r.Method == http.MethodGet || !strings.HasPrefix(r.Host, "localhost:") || resource == "" || slices.Contains(besides, resource) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if line := r.Method + " " + r.URL.Path; r.URL.Query().Get("dryRun") == "All" {
			asked = append(asked, line)
		} else {
			sent = append(sent, line)
		}
	})
	return func() ([]string, []string) {
		stop()
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(sent)
		return asked, sent
	}
}

// shown are the requests that a dry run prints.
func shown(t *testing.T, r *story.Result) (out []string) {
	t.Helper()
	for line := range strings.Lines(r.Ends(0).Out) {
		var one struct{ Type, Method, Path string }
		if err := json.Unmarshal([]byte(line), &one); err != nil || one.Type != "request" {
			t.Fatalf("among the requests: %s: %v", line, err)
		}
		path, _, _ := strings.Cut(one.Path, "?")
		out = append(out, one.Method+" "+path)
	}
	slices.Sort(out)
	return out
}

// TestDryRun_ShowsTheRequestsOfTheRollout: the requests that a dry run shows are those that the command then sends,
// and until then nothing is written.
func TestDryRun_ShowsTheRequestsOfTheRollout(t *testing.T) {
	t.Parallel()
	clones := kind("apps.kruise.io/v1beta1", "CloneSet", "replicas: 3\n  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}")
	for name, c := range map[string]struct {
		text string
		pods int
		// before is what leads there, dry the commands with how they end without --dry-run.
		before, run, how string
		ends             int
	}{
		"CloneSet":           {clones, 3, "", "run cloneset/web --steps 1,100%" + image2, "server", 0},
		"StatefulSet":        {kind("apps/v1", "StatefulSet", "replicas: 3\n  serviceName: web"), 3, "", "run statefulset.apps/web --steps 1,100%" + image2, "server", 0},
		"ReplicaSet":         {kind("apps/v1", "ReplicaSet", "replicas: 3"), 3, "", "run replicaset/web --driver client --steps 1,100%" + image2, "server", 0},
		"DaemonSet OnDelete": {kind("apps/v1", "DaemonSet", "updateStrategy: {type: OnDelete}"), 3, "", "run daemonset.apps/web --driver client --steps 1,100%" + image2, "server", 0},
		"subsets":            {united, 5, "", "run ud/web --steps 50%,100%" + image2, "server", 0},
		"promote":            {clones, 3, "run cloneset/web --steps 1,2,100% --pause-after all --exit-on-pause" + image2, "promote cloneset/web", "client", 5},
		"abort":              {clones, 3, "run cloneset/web --steps 1,2,100% --pause-after all --exit-on-pause" + image2, "abort cloneset/web --rollback", "client", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := story.Start(t, c.pods, c.text)
			if c.before != "" {
				s.Run("rollout " + c.before)
			}
			over := writes(s)
			show := shown(t, s.Run("rollout "+c.run+" --dry-run="+c.how+" -o json"))
			asked, sent := over()
			if len(sent) > 0 || (c.how == "server") != (len(asked) > 0) {
				t.Errorf("a dry run sends %v, and asks for %v", sent, asked)
			}
			over = writes(s)
			really := "rollout " + c.run
			switch {
			case strings.HasPrefix(c.run, "promote"):
				really += " --exit-on-pause"
			case strings.HasPrefix(c.run, "abort"):
				really += " --yes"
			}
			s.Run(really).Ends(c.ends)
			if _, sent = over(); len(sent) == 0 || !slices.Equal(show, sent) {
				t.Errorf("shown:\n%s\nsent:\n%s", strings.Join(show, "\n"), strings.Join(sent, "\n"))
			}
		})
	}
}
