package story

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KilledAt runs a command whose process dies with its n-th write that has a word in its path, the first being 0: before the write is carried out, or
// with done after that and before the answer. Nothing of the process reaches the server from then on, and its leases are
// over. died is what the write was, "" for a command that ended before it, with its result then.
func (s *Story) KilledAt(n int, word string, done bool, line string) (died string, res *Result) {
	s.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		s.Fatal(err)
	}
	ctx, kill := context.WithCancel(s.Context())
	defer kill()
	var writes, dead atomic.Int64
	var at sync.Once
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dead.Load() > 0 {
			panic(http.ErrAbortHandler)
		}
		if isWrite(r) && strings.Contains(r.URL.Path, word) && writes.Add(1) == int64(n)+1 {
			if done {
				proxy.ServeHTTP(httptest.NewRecorder(), r)
			}
			dead.Store(1)
			at.Do(func() { died = r.Method + " " + r.URL.Path })
			kill()
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	file := filepath.Join(s.folder, "killed")
	config, err := os.ReadFile(s.Kubeconfig)
	if err == nil {
		err = os.WriteFile(file, bytes.ReplaceAll(config, []byte(strings.Replace(s.URL, "127.0.0.1", "localhost", 1)), []byte(server.URL)), 0o600) //nolint:gosec // in the folder of the test
	}
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = os.Remove(file) }()
	res = s.run(ctx, file, strings.Fields(line))
	at.Do(func() {})
	if died == "" {
		return "", res
	}
	leases := s.Client.CoordinationV1().Leases(Namespace)
	if err := leases.DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		s.Fatal(err)
	}
	return died, res
}

// isWrite reports whether a request changes something that stays.
func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/authorization.k8s.io/") && r.URL.Query().Get("dryRun") == ""
}
