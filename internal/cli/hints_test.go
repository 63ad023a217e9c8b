package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestHints_KeepTheConnection: a command in a hint has the namespace, the context and the
// kubeconfig of the command that printed it, so that it can be copied. It does not matter whether
// the hint comes from an error, a status, a diagnosis or a check.
func TestHints_KeepTheConnection(t *testing.T) {
	kubeconfig := func(url string) string {
		file := filepath.Join(t.TempDir(), "config")
		config := fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: prod, context: {cluster: c}}]}`, url)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	released, _ := releaseServer(t, "Healthy", "Completed")
	paused, _ := releaseServer(t, "Progressing", "StepPaused")
	servers := map[string]string{
		"released": kubeconfig(released), "paused": kubeconfig(paused), "broken": kubeconfig(brokenShop(t, nil)),
		"held": kubeconfig(brokenShop(t, map[string]string{"/apis/rollouts.kruise.io/v1beta1/namespaces/shop/rollouts": liveRelease})),
		"none": kubeconfig("http://127.0.0.1:1"),
	}
	for _, c := range []struct{ server, args, want string }{
		{"released", "rollout resume cloneset/web", "'kubectl kruise rollout approve rollout/web CONNECTION' continues it"},
		{"released", "rollout abort cloneset/web", "'kubectl kruise rollout undo rollout/web CONNECTION' rolls it back"},
		{"released", "rollout retry cloneset/web", "'kubectl kruise rollout approve rollout/web CONNECTION' continues it"},
		{"paused", "rollout status rollout/web --watch=false", "next: kubectl kruise rollout approve rollout/web CONNECTION\n"},
		{"broken", "rollout run cloneset/web --against old.yaml", "'kubectl kruise plan CONNECTION' and 'kubectl kruise simulate' work from files"},
		{"broken", "why cloneset/web", "hint: 'kubectl logs --previous web-2 CONNECTION' shows why it ended; 'kubectl kruise rollout undo cloneset/web CONNECTION' rolls back\n"},
		{"broken", "why web-2", "'kubectl logs --previous web-2 CONNECTION' shows why it ended"},
		{"held", "why cloneset/web", "hint: kubectl kruise rollout approve rollout/web CONNECTION\n"},
		{"broken", "ui", "'kubectl kruise get CONNECTION' and 'kubectl kruise rollout status CONNECTION' print lines"},
		{"broken", "rollout attach cloneset/web", "'kubectl kruise rollout status --watch CONNECTION' prints lines"},
		{"broken", "rollout promote cloneset/web", "hint: start one with 'kubectl kruise rollout run cloneset/web --image CONTAINER=IMAGE CONNECTION'\n"},
		{"broken", "rollout retry cloneset/web", "'kubectl kruise rollout run cloneset/web --image CONTAINER=IMAGE CONNECTION'"},
		{"broken", "rollout abort cloneset/web --rollback --yes", "'kubectl kruise rollout run cloneset/web --image CONTAINER=IMAGE CONNECTION'"},
		{"broken", "promote cloneset/web", "did you mean 'kubectl kruise rollout promote CONNECTION'?"},
		{"broken", "plan cloneset/web --image main=web:3 --driver native", "hint: the driver native needs an object whose own controller replaces pods"},
		{"broken", "plan cloneset/nope --image a=b", "hint: check the name and -n: the namespace is shop; --against FILE plans from files alone\n"},
		{"broken", "simulate cloneset/web", "hint: give the new state with -f FILE or -k DIR"},
		{"none", "plan cloneset/web --image main=web:3", "hint: check --kubeconfig and --context; --against FILE plans from files alone\n"},
		{"none", "simulate cloneset/web --image main=web:3", "hint: check --kubeconfig and --context; --against FILE plans from files alone\n"},
		{"none", "doctor", "hint: check --kubeconfig, --context and $KUBECONFIG\n"},
		{"none", "rollout list", "hint: check --kubeconfig, --context and $KUBECONFIG\n"},
		{"none", "get clonesets/web --nonsense", "'kubectl kruise get --help'"},
	} {
		t.Run(c.args, func(t *testing.T) {
			file := servers[c.server]
			_, out, errOut := call(t.Context(), t, "", append(strings.Fields(c.args), "-n", "shop", "--kubeconfig", file, "--context", "prod")...)
			want := strings.ReplaceAll(c.want, "CONNECTION", "-n shop --context prod --kubeconfig "+file)
			if !strings.Contains(out+errOut, want) {
				t.Errorf("want the hint %s:\n%s\n%s", want, out, errOut)
			}
		})
	}
}

// TestHints_AreNotAboutTheClusterWhereAManifestCannotBeFetched: the server of a manifest has nothing to do
// with the kubeconfig.
func TestHints_AreNotAboutTheClusterWhereAManifestCannotBeFetched(t *testing.T) {
	var out, errOut bytes.Buffer
	args := strings.Fields("kubectl-kruise set image -f http://127.0.0.2:1/x.yaml --local a=b --server http://127.0.0.1:1")
	code := Main(t.Context(), args, factory.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	if code != 1 || !strings.Contains(errOut.String(), "127.0.0.2:1") || strings.Contains(errOut.String(), "kubeconfig") {
		t.Errorf("exit %d\n%s", code, errOut.String())
	}
}

// TestErrors_NameTheCodeOfAnAnswerWithoutMessage: some proxies and policies refuse without a word.
func TestErrors_NameTheCodeOfAnAnswerWithoutMessage(t *testing.T) {
	for name, answer := range map[string]string{
		"status": `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden"}`,
		"empty":  ``,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, answer)
		}))
		defer server.Close()
		for _, args := range []string{"rollout list", "rollout status cloneset/web", "restart cloneset/web --yes", "set image cloneset/web a=b:1", "lint --live"} {
			t.Run(name+" "+args, func(t *testing.T) {
				var out, errOut bytes.Buffer
				code := Main(t.Context(), strings.Fields("kubectl-kruise "+args+" --server "+server.URL),
					factory.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
				if code == 0 || !strings.Contains(errOut.String(), "the API server answered with code 403 (Forbidden) and no message") {
					t.Errorf("exit %d\n%s", code, errOut.String())
				}
			})
		}
	}
}

// TestErrors_AreAsKubectlsOnce: what the server answers is printed as kubectl prints it, with one prefix, whether our
// verb or one of kubectl's asked.
func TestErrors_AreAsKubectlsOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = io.WriteString(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case "/apis":
			_, _ = io.WriteString(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`)
		case "/api/v1":
			_, _ = io.WriteString(w, `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "configmaps", "singularName": "configmap", "namespaced": true, "kind": "ConfigMap", "verbs": ["get"]}, {"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": ["get"]}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "configmaps \"a\" not found", "reason": "NotFound", "code": 404}`)
		}
	}))
	defer server.Close()
	const missing = "Error from server (NotFound): configmaps \"a\" not found\n"
	for args, want := range map[string]string{
		"get configmap a": missing, "delete configmap a": missing, "patch configmap a -p {}": missing,
		"logs a": "Error from server (NotFound): configmaps \"a\" not found in namespace \"default\"\n",
	} {
		code, out, said := call(t.Context(), t, "", append(strings.Fields(args), "--server", server.URL)...)
		if code != exitError || said != want {
			t.Errorf("%s: exit %d\n%s%s", args, code, out, said)
		}
	}
}
