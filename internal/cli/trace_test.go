package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// aSecret is one as a server's lists hold it, without its kind.
const aSecret = `{"metadata":{"name":"pass","namespace":"shop","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"blob\":\"emVicmEtb25l\"}}"}},"data":{"blob":"emVicmEtb25l"},"type":"Opaque"}`

// secretServer is an API server with one Secret.
func secretServer(t *testing.T) string {
	t.Helper()
	single := strings.Replace(aSecret, `{`, `{"kind":"Secret","apiVersion":"v1",`, 1)
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","singularName":"secret","namespaced":true,"kind":"Secret","verbs":["get","list","watch","patch","update","delete"]}]}`,

		"/api/v1/namespaces/shop/secrets":      `{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + aSecret + `]}`,
		"/api/v1/namespaces/shop/secrets/pass": single,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if text, ok := answers[r.URL.Path]; ok {
			_, _ = fmt.Fprint(w, text)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestVerbosity_LogsRequestsWithoutSecrets: --v logs requests as kubectl's does, and nothing that is secret in them
// or in their answers.
func TestVerbosity_LogsRequestsWithoutSecrets(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECACHEDIR", filepath.Join(t.TempDir(), "cache"))
	server := secretServer(t)
	path := file(t, strings.Replace(aSecret, `{`, `{"kind":"Secret","apiVersion":"v1",`, 1))
	for _, line := range []string{"get secrets", "get secret pass", "describe secret pass", "replace --validate=false -f FILE", `patch secret pass -p {"stringData":{"word":"zebra-two"}}`, `patch secret pass --type json -p [{"op":"add","path":"/data/blob","value":"emVicmEtdHdv"}]`} {
		for _, flag := range []string{"--v=6", "-v=8", "-v=9", "--v=10"} {
			args := append(strings.Fields(strings.ReplaceAll(line, "FILE", path)), flag, "--server", server, "-n", "shop", "--token", "zebra-token")
			_, out, said := call(t.Context(), t, "", args...)
			tight(t, line+" "+flag, out+said)
			if !strings.Contains(said, server+"/api/v1/") {
				t.Errorf("%s %s: no request is told of:\n%s", line, flag, said)
			}
			if told := strings.Contains(said, ` body={"`); told != (flag != "--v=6") {
				t.Errorf("%s %s: bodies:\n%s", line, flag, said)
			}
		}
	}
	if _, _, said := call(t.Context(), t, "", "get", "secrets", "--server", server, "-n", "shop"); said != "" {
		t.Errorf("without the flag: %s", said)
	}
	code, _, said := call(t.Context(), t, "", "version", "--v=loud")
	oneLine(t, code, "", said, exitUsage)
}
