package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// oneLine fails the test unless a call in a pipe ended with a code and one line that says
// what is wrong.
func oneLine(t *testing.T, code int, out, errOut string, codes ...int) {
	t.Helper()
	if !slices.Contains(codes, code) || strings.Count("\n"+errOut, "\nerror: ")+strings.Count(errOut, fromServer) != 1 || strings.Contains(errOut, "goroutine ") || strings.Contains(errOut, "Usage:") {
		t.Errorf("exit %d, want one of %v and one line of error\n%s%s", code, codes, out, errOut)
	}
}

// TestUnknownFlag_IsAUsageErrorOfEveryCommand: every command answers a flag that it does not know with 2, one line,
// and where its flags are listed.
func TestUnknownFlag_IsAUsageErrorOfEveryCommand(t *testing.T) {
	each(whole(), func(c *cobra.Command) {
		if c.DisableFlagParsing || !c.Runnable() {
			return
		}
		path := strings.Fields(c.CommandPath())[1:]
		if len(path) > 0 && path[0] == "kruise" {
			path = path[1:]
		}
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			code, out, errOut := call(t.Context(), t, "", append(path, "--no-such-flag")...)
			oneLine(t, code, out, errOut, exitUsage)
			if !strings.Contains(errOut, "hint: see '") || out != "" {
				t.Errorf("no hint, or output\n%s%s", out, errOut)
			}
		})
	})
}

// bareServer is an API server of pods and nothing else; where it forbids, it forbids all but
// discovery.
func bareServer(t *testing.T, forbids bool) string {
	t.Helper()
	answers := map[string]string{
		"/api":          `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":         `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]}`,
		"/api/v1":       `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]}]}`,
		"/apis/apps/v1": `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get","list","watch","patch"]}]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, ok := answers[r.URL.Path]
		switch {
		case ok:
			_, _ = fmt.Fprint(w, text)
		case forbids:
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"deployments.apps \"web\" is forbidden: User \"eve\" cannot do that"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"deployments.apps \"web\" not found","details":{"name":"web","group":"apps","kind":"deployments"}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// objects are the calls of commands that take an object of a cluster, with OBJECT where
// it stands.
var objects = []string{
	"rollout pause OBJECT", "rollout resume OBJECT", "rollout restart OBJECT", "rollout undo OBJECT", "rollout history OBJECT", "rollout status OBJECT --watch=false",
	"rollout promote OBJECT", "rollout abort OBJECT", "rollout run OBJECT --image c=i:2 --yes",
	"set image OBJECT c=i:2", "set env OBJECT A=b", "set resources OBJECT --limits cpu=1", "set serviceaccount OBJECT robot",
	"scale OBJECT --replicas 2", "autoscale OBJECT --max 3", "expose OBJECT --port 80", "describe OBJECT", "get OBJECT", "delete OBJECT",
	"protect OBJECT", "unprotect OBJECT", "spread OBJECT", "why OBJECT", "logs OBJECT", "exec OBJECT -- true", "plan OBJECT --image c=i:2",
	"patch OBJECT -p {}", "wait OBJECT --for=delete",
}

// TestBadObject_IsReportedByEveryCommand: a type that the server does not have, a name that is not there, and
// one that may not be read are one line each. Nothing hangs, nothing asks.
func TestBadObject_IsReportedByEveryCommand(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECACHEDIR", filepath.Join(t.TempDir(), "cache"))
	empty, forbidding := bareServer(t, false), bareServer(t, true)
	for _, line := range objects {
		for _, c := range []struct{ name, object, server, says string }{
			{"unknown kind", "nosuchkind/web", empty, "nosuchkind"},
			{"no such name", "deployment/web", empty, "web"},
			{"forbidden", "deployment/web", forbidding, "forbidden"},
		} {
			if strings.HasPrefix(line, "wait") && c.name == "no such name" {
				continue // it is deleted: that was waited for
			}
			t.Run(line+" "+c.name, func(t *testing.T) {
				args := append(strings.Fields(strings.ReplaceAll(line, "OBJECT", c.object)), "--server", c.server, "-n", "shop")
				if i := slices.Index(args, "--"); i >= 0 {
					args = append([]string{"--server", c.server, "-n", "shop"}, strings.Fields(strings.ReplaceAll(line, "OBJECT", c.object))...)
				}
				code, out, errOut := call(t.Context(), t, "", args...)
				oneLine(t, code, out, errOut, exitError, exitUsage)
				if !strings.Contains(errOut, c.says) {
					t.Errorf("it does not say %q:\n%s", c.says, errOut)
				}
			})
		}
	}
}
