package kube

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestTemplateSecrets: what a pod to come will pull with, whether there is one or not.
func TestTemplateSecrets(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; name {
		case "default", "builder":
			_, _ = io.WriteString(w, `{"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "`+name+`"}, "imagePullSecrets": [{"name": "of-`+name+`"}, {"name": "more"}]}`)
		case "hidden":
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`)
		}
	}))
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
	for name, c := range map[string]struct {
		template map[string]any
		want     string
		bad      bool
	}{
		"nothing said":   {nil, "of-default more", false},
		"an account":     {map[string]any{"spec": map[string]any{"serviceAccountName": "builder"}}, "of-builder more", false},
		"its own":        {map[string]any{"spec": map[string]any{"serviceAccountName": "builder", "imagePullSecrets": []any{map[string]any{"name": "own"}}}}, "own", false},
		"no account":     {map[string]any{"spec": map[string]any{"serviceAccountName": "none"}}, "", false},
		"not to be read": {map[string]any{"spec": map[string]any{"serviceAccountName": "hidden"}}, "", true},
	} {
		got, err := TemplateSecrets(t.Context(), client, "shop", c.template)
		if strings.Join(got, " ") != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
