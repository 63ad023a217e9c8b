// Package argocd runs the plugin in Argo CD's own server of config management plugins, and
// talks to it as the repo server does: over its socket, with its protocol.
package argocd

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
)

// build are the two programs, in a folder that is all of the server's PATH: the image of
// the sidecar holds nothing else either.
var build = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../../out/argocd")
	if err != nil {
		return "", err
	}
	for _, b := range []struct{ from, pkg, name string }{
		{".", "./server", "argocd-cmp-server"},
		{"../..", "./cmd/kubectl-kruise", "kubectl-kruise"},
	} {
		// For the compiler the flags of `go test` itself: with others, all of Argo CD would be
		// compiled twice.
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", filepath.Join(dir, b.name), b.pkg)
		cmd.Dir = b.from
		if said, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", b.pkg, err, said)
		}
	}
	return dir, nil
})

// sidecar is a running server.
type sidecar struct {
	client apiclient.ConfigManagementPluginServiceClient
	socket string
	cmd    *exec.Cmd
	log    *bytes.Buffer
}

// start runs the server with plugins/argocd/plugin.yaml, until the test ends.
func start(t *testing.T) *sidecar {
	t.Helper()
	programs, err := build()
	if err != nil {
		t.Fatal(err)
	}
	config, err := filepath.Abs("../../plugins/argocd")
	if err != nil {
		t.Fatal(err)
	}
	// A socket's path is short, shorter than that of a test's folder.
	dir, err := os.MkdirTemp("", "cmp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &sidecar{socket: filepath.Join(dir, "kubectl-kruise.sock"), log: &bytes.Buffer{}}
	s.cmd = exec.Command(filepath.Join(programs, "argocd-cmp-server"), "--config-dir-path", config, "--loglevel", "debug")
	s.cmd.Env = []string{"PATH=" + programs, "HOME=/nonexistent", "TMPDIR=" + t.TempDir(), "ARGOCD_PLUGINSOCKFILEPATH=" + dir}
	s.run(t)
	conn, err := apiclient.NewConnection(s.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s.client = apiclient.NewConfigManagementPluginServiceClient(conn)
	return s
}

// run starts the process and returns when it listens.
func (s *sidecar) run(t *testing.T) {
	t.Helper()
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listens, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		s.read(stderr, listens)
	}()
	t.Cleanup(func() {
		// On a signal that it can catch it removes its socket and stays.
		_ = s.cmd.Process.Kill()
		<-ended
		_ = s.cmd.Wait()
		if t.Failed() {
			t.Logf("the server says\n%s", s.log)
		}
	})
	select {
	case <-listens:
	case <-ended:
		t.Fatalf("the server has ended\n%s", s.log)
	}
}

// read keeps what the server says, and reports the line with which it begins to serve.
func (s *sidecar) read(r io.Reader, listens chan<- struct{}) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(s.log, lines.Text())
		if listens != nil && strings.Contains(lines.Text(), "serving on "+s.socket) {
			close(listens)
			listens = nil
		}
	}
}

// call is the context of one request, with the limit that the repo server sets.
func call(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
