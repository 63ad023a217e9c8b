package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// follows is an API server with one pod, whose watches and logs never end. It tells
// of each that the test follows.
func follows(t *testing.T) (url string, followed <-chan string) {
	t.Helper()
	told := make(chan string, 16)
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default","uid":"1","resourceVersion":"7"},"spec":{"containers":[{"name":"main","image":"i"}]},"status":{"phase":"Running"}}`
	answers := map[string]string{
		"/api":                                `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":                               `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":                             `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"],"shortNames":["po"]}]}`,
		"/api/v1/namespaces/default/pods":     `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[` + pod + `]}`,
		"/api/v1/namespaces/default/pods/web": pod,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		log := strings.HasSuffix(r.URL.Path, "/log")
		if log {
			_, _ = fmt.Fprintln(w, "a line")
		}
		if log || r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush() //nolint:forcetypeassert // the server's own
			told <- r.URL.String()
			<-r.Context().Done()
			return
		}
		text, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL, told
}

// TestInterrupt_EndsWith130: a command that follows something ends with 130 on Ctrl-C, and prints no error.
func TestInterrupt_EndsWith130(t *testing.T) {
	for _, line := range []string{
		"get pods -w", "get pod/web -w -o name", "get pods --watch-only", "logs -f web", "logs -f web --timestamps --all-containers",
	} {
		t.Run(strings.ReplaceAll(line, " ", "_"), func(t *testing.T) {
			t.Parallel()
			url, followed := follows(t)
			cmd := exec.CommandContext(t.Context(), "kubectl-kruise", append([]string{"--server", url, "-n", "default"}, strings.Fields(line)...)...)
			cmd.Env = append(os.Environ(), "KUBECONFIG=/nonexistent/kubeconfig", "HOME="+t.TempDir(), "KUBECACHEDIR="+filepath.Join(t.TempDir(), "cache"))
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-followed
			if strings.HasPrefix(line, "logs") {
				if first, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(first, "a line") {
					t.Errorf("%q, %v", first, err)
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 || said.Len() > 0 {
				t.Errorf("exit %d\n%s", code, said.String())
			}
		})
	}
}
