package verify

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

func TestOnce_RunsNoProgramWithoutPermission(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	a := Once(t.Context(), &plan.Verify{Command: []string{"sh", "-c", "touch " + marker}}, Permissions{})
	if _, err := os.Stat(marker); err == nil || a.Good || !strings.Contains(a.Text, "--allow-commands") {
		t.Errorf("%+v, marker: %v", a, err)
	}
}

// TestClient_KeepsToTheHost: an answer leads to no other host, scheme or number of answers.
func TestClient_KeepsToTheHost(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{
		"/same": "status 200", "/other": "it redirects to another host, which is not followed",
		"/loop": "more than 5 redirects", "/metadata": "it redirects to another host, which is not followed",
	} {
		if a := Once(t.Context(), &plan.Verify{URL: server.URL + path}, Permissions{}); a.Text != want {
			t.Errorf("%s: %+v", path, a)
		}
	}
	if asked {
		t.Error("the other host was asked")
	}
}

// TestClient_AsksNoMetadataService in any spelling of its address.
func TestClient_AsksNoMetadataService(t *testing.T) {
	for _, address := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/", "http://169.254.0.1:80/",
		"http://[fe80::1]/", "http://100.100.100.200/", "http://168.63.129.16/", "http://0.0.0.0/", "http://[fe80::1%25lo]/",
	} {
		a := Once(t.Context(), &plan.Verify{URL: address}, Permissions{})
		if a.Good || !strings.Contains(a.Text, "is a link-local or metadata address") {
			t.Errorf("%s: %+v", address, a)
		}
		if a := Once(t.Context(), &plan.Verify{Prometheus: address, Query: "up", Threshold: "> 0"}, Permissions{}); a.Good || !strings.Contains(a.Text, "metadata address") {
			t.Errorf("Prometheus at %s: %+v", address, a)
		}
	}
	for _, address := range []string{"file:///etc/passwd", "gopher://x/", "ftp://x/", "http:///x", "/healthz"} {
		if a := Once(t.Context(), &plan.Verify{URL: address}, Permissions{}); a.Good || a.Text != "only http and https addresses are asked" {
			t.Errorf("%s: %+v", address, a)
		}
	}
	// A name is judged by the address that it leads to.
	if err := checkAddress("169.254.169.254:80"); err == nil {
		t.Error("a connection to the metadata service is allowed")
	}
	if guarded(netip.MustParseAddr("127.0.0.1")) || guarded(netip.MustParseAddr("10.0.0.1")) || guarded(netip.MustParseAddr("2001:db8::1")) {
		t.Error("an ordinary address is refused")
	}
}

func TestClient_AsksLocallyWithPermission(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer server.Close()
	if a := Once(t.Context(), &plan.Verify{URL: strings.Replace(server.URL, "127.0.0.1", "0.0.0.0", 1)}, Permissions{LinkLocal: true}); !a.Good {
		t.Errorf("%+v", a)
	}
}
