package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// page is how many objects an answer of the server has at most.
const page = 500

// serve starts an API server that holds the objects of the groups, and answers lists of
// them, page by page. No object has what a label selector asks for.
func serve(groups []group, n int) *httptest.Server {
	lists := map[string][]json.RawMessage{}
	for _, doc := range strings.Split(string(text(groups, n, 1)), "---\n")[1:] {
		object := yaml.MustParse(doc)
		raw, err := object.MarshalJSON()
		if err != nil {
			panic(fmt.Sprintf("template of %s: %v", object.GetKind(), err))
		}
		name := object.GetApiVersion() + "/" + strings.ToLower(object.GetKind()) + "s"
		lists[name] = append(lists[name], raw)
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/version":
			_, _ = fmt.Fprint(w, `{"major": "1", "minor": "35"}`)
		case "/api":
			_, _ = fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case "/apis":
			_, _ = fmt.Fprint(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "apps.kruise.io", "versions": [{"groupVersion": "apps.kruise.io/v1alpha1"}, {"groupVersion": "apps.kruise.io/v1beta1"}]}, {"name": "policy.kruise.io", "versions": [{"groupVersion": "policy.kruise.io/v1alpha1"}]}]}`)
		default:
			answer(w, r, lists)
		}
	}))
}

// answer sends a page of a list.
func answer(w http.ResponseWriter, r *http.Request, lists map[string][]json.RawMessage) {
	place := strings.Split(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api/"), "/")
	version := place[0]
	if strings.HasPrefix(r.URL.Path, "/apis/") {
		version = path.Join(place[:2]...)
	}
	list, query := lists[version+"/"+place[len(place)-1]], r.URL.Query()
	if query.Get("labelSelector") != "" || query.Get("fieldSelector") != "" {
		list = nil
	}
	from, _ := strconv.Atoi(query.Get("continue"))
	to, next := len(list), ""
	if from+page < to {
		to = from + page
		next = strconv.Itoa(to)
	}
	err := json.NewEncoder(w).Encode(map[string]any{
		"kind": "List", "apiVersion": version, "metadata": map[string]any{"continue": next}, "items": append([]json.RawMessage{}, list[from:to]...),
	})
	if err != nil {
		panic(err)
	}
}
