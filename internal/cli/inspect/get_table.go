package inspect

import (
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/apply/kube/release"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// withTitles is what the server sent, with our columns where it is a table of whole
// objects; anything else is returned as it is.
func withTitles(obj runtime.Object, columns []column, now time.Time) runtime.Object {
	if e, ok := obj.(*metav1.WatchEvent); ok {
		out := e.DeepCopy()
		out.Object.Object = withTitles(e.Object.Object, columns, now)
		return out
	}
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || u.GetKind() != "Table" {
		return obj
	}
	rows, _ := u.Object["rows"].([]any)
	out := make([]any, 0, len(rows))
	for _, r := range rows {
		row, _ := r.(map[string]any)
		object, _ := row["object"].(map[string]any)
		if fieldAt(object, "spec") == nil && fieldAt(object, "status") == nil && len(object) <= metadataOnly {
			return obj // the server sent no whole objects
		}
		cells := []any{fieldAt(object, "metadata.name")}
		for _, c := range columns {
			cells = append(cells, c.show(object, now))
		}
		out = append(out, map[string]any{"cells": cells, "object": object})
	}
	table := map[string]any{"apiVersion": u.GetAPIVersion(), "kind": "Table", "columnDefinitions": columnDefinitions(columns), "rows": out}
	if meta, ok := u.Object["metadata"]; ok {
		table["metadata"] = meta
	}
	return &unstructured.Unstructured{Object: table}
}

// metadataOnly is how many fields a PartialObjectMetadata has.
const metadataOnly = 3

func columnDefinitions(columns []column) []any {
	definition := func(name, format string, priority int64) any {
		return map[string]any{"name": name, "type": "string", "format": format, "description": "", "priority": priority}
	}
	out := []any{definition("NAME", "name", 0)}
	for _, c := range columns {
		priority := int64(0)
		if c.wide {
			priority = 1
		}
		out = append(out, definition(c.title, "", priority))
	}
	return out
}

// kruiseGroups are those whose kinds have columns of this program.
var kruiseGroups = []string{kruise.Group, kruise.PolicyGroup, release.Group}

// wholeGetter makes clients that use wholeTables.
type wholeGetter struct {
	genericclioptions.RESTClientGetter
}

// ToRESTConfig is how to reach the cluster.
func (g wholeGetter) ToRESTConfig() (*rest.Config, error) {
	cfg, err := g.RESTClientGetter.ToRESTConfig()
	if err == nil {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return wholeTables{next} })
	}
	return cfg, err
}

// wholeTables asks the server for whole objects with the tables of our kinds: its own tables
// carry no more than the metadata.
type wholeTables struct{ next http.RoundTripper }

func (w wholeTables) RoundTrip(r *http.Request) (*http.Response, error) {
	_, after, found := strings.Cut(r.URL.Path, "/apis/")
	group, _, _ := strings.Cut(after, "/")
	if found && slices.Contains(kruiseGroups, group) && strings.Contains(r.Header.Get("Accept"), "as=Table") {
		r = r.Clone(r.Context())
		q := r.URL.Query()
		q.Set("includeObject", "Object")
		r.URL.RawQuery = q.Encode()
	}
	return w.next.RoundTrip(r)
}
