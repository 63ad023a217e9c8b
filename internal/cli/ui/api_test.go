package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// api is an API server in memory: it lists, watches, reads, creates and patches objects
// of the resources that it is given.
type api struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	version int
	// objects are by their paths, /api/v1/namespaces/shop/pods/web-1.
	objects   map[string]map[string]any
	watches   map[*watching]bool
	down      bool
	forbidden map[string]bool
	// asked are requests that lists and watches were begun with, wrote what was written.
	asked, wrote []string
}

type watching struct {
	resource, namespace string
	events              chan map[string]any
	closed              chan struct{}
}

// kinds are what the server serves, by path.
var kinds = map[string]string{
	"/api/v1/pods": "Pod", "/api/v1/nodes": "Node", "/api/v1/namespaces": "Namespace", "/api/v1/configmaps": "ConfigMap", "/api/v1/events": "Event",
	"/apis/apps/v1/deployments": "Deployment", "/apis/apps/v1/replicasets": "ReplicaSet", "/apis/apps/v1/statefulsets": "StatefulSet",
	"/apis/apps/v1/daemonsets": "DaemonSet", "/apis/apps/v1/controllerrevisions": "ControllerRevision",
	"/apis/policy/v1/poddisruptionbudgets": "PodDisruptionBudget", "/apis/coordination.k8s.io/v1/leases": "Lease",
	"/apis/apps.kruise.io/v1beta1/clonesets": "CloneSet", "/apis/apps.kruise.io/v1beta1/sidecarsets": "SidecarSet",
	"/apis/apps.kruise.io/v1beta1/workloadspreads": "WorkloadSpread", "/apis/apps.kruise.io/v1beta1/uniteddeployments": "UnitedDeployment",
	"/apis/apps.kruise.io/v1beta1/resourcedistributions": "ResourceDistribution", "/apis/apps.kruise.io/v1beta1/imagepulljobs": "ImagePullJob",
	"/apis/apps.kruise.io/v1beta1/nodeimages": "NodeImage",
}

func newAPI(t *testing.T, docs ...string) *api {
	t.Helper()
	a := &api{t: t, objects: map[string]map[string]any{}, watches: map[*watching]bool{}, forbidden: map[string]bool{}}
	srv := httptest.NewServer(a)
	a.url = srv.URL
	t.Cleanup(func() {
		a.lose()
		srv.Close()
	})
	for _, doc := range docs {
		a.put(doc)
	}
	return a
}

// put adds or replaces an object.
func (a *api) put(doc string) {
	a.t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
		a.t.Fatal(err)
	}
	a.store(o)
}

// store keeps an object, and tells those who watch.
func (a *api) store(o map[string]any) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	meta := o["metadata"].(map[string]any)
	resource := a.resource(o)
	path := resource + "/" + meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	if namespace != "" {
		i := strings.LastIndexByte(resource, '/')
		path = resource[:i] + "/namespaces/" + namespace + path[i:]
	}
	kind := "ADDED"
	if a.objects[path] != nil {
		kind = "MODIFIED"
	}
	a.version++
	meta["resourceVersion"] = strconv.Itoa(a.version)
	if meta["uid"] == nil {
		meta["uid"] = "uid-" + meta["name"].(string)
	}
	a.objects[path] = o
	for w := range a.watches {
		if w.resource == resource && (w.namespace == "" || w.namespace == namespace) {
			w.events <- map[string]any{"type": kind, "object": o}
		}
	}
	return o
}

func (a *api) resource(o map[string]any) string {
	for path, kind := range kinds {
		if kind == o["kind"] {
			return path
		}
	}
	a.t.Errorf("the server has no %v", o["kind"])
	return ""
}

// lose ends all connections; back has the server answer again.
func (a *api) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = true
	for w := range a.watches {
		close(w.closed)
		delete(a.watches, w)
	}
}

func (a *api) back() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = false
}

// forbid has a resource be forbidden, or not any more.
func (a *api) forbid(resource string, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forbidden[resource] = on
}

// refuses reports whether a resource may not be read.
func (a *api) refuses(resource string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forbidden[resource]
}

func (a *api) requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func (a *api) written() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.wrote)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	down := a.down
	a.mu.Unlock()
	if down {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	resource, namespace, name, sub := parted(r.URL.Path)
	switch {
	case a.refuses(resource):
		refuse(w, http.StatusForbidden, "Forbidden")
	case strings.HasSuffix(r.URL.Path, "selfsubjectaccessreviews"):
		_, _ = io.WriteString(w, `{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": true}}`)
	case kinds[resource] == "":
		refuse(w, http.StatusNotFound, "NotFound")
	case r.Method == http.MethodPost || r.Method == http.MethodPut:
		a.create(w, r)
	case r.Method == http.MethodPatch:
		a.patch(w, r, sub)
	case r.URL.Query().Get("sendInitialEvents") != "":
		refuse(w, http.StatusUnprocessableEntity, "Invalid")
	case r.URL.Query().Get("watch") != "":
		a.watch(w, r, resource, namespace)
	case name != "":
		a.get(w, r.URL.Path)
	default:
		a.list(w, r, resource, namespace)
	}
}

// parted reads a path: what a resource, a namespace, a name and a subresource are.
func parted(path string) (resource, namespace, name, sub string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	head := 2
	if parts[0] == "apis" {
		head = 3
	}
	if len(parts) <= head {
		return "", "", "", ""
	}
	rest := parts[head:]
	if rest[0] == "namespaces" && len(rest) > 2 {
		namespace, rest = rest[1], rest[2:]
	}
	resource = "/" + strings.Join(append(slices.Clone(parts[:head]), rest[0]), "/")
	if len(rest) > 1 {
		name = rest[1]
	}
	if len(rest) > 2 {
		sub = rest[2]
	}
	return resource, namespace, name, sub
}

func refuse(w http.ResponseWriter, code int, reason string) {
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "message": %q, "code": %d}`, reason, "it is "+reason, code)
}

func (a *api) get(w http.ResponseWriter, path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.objects[path]; o != nil {
		a.answer(w, o)
		return
	}
	refuse(w, http.StatusNotFound, "NotFound")
}

func (a *api) answer(w io.Writer, o any) {
	if err := json.NewEncoder(w).Encode(o); err != nil {
		a.t.Log(err)
	}
}

// chosen are the objects of a list that its selectors by name and label let through.
func (a *api) chosen(r *http.Request, resource, namespace string) []any {
	out := []any{}
	for _, path := range slices.Sorted(maps.Keys(a.objects)) {
		if of, in, name, _ := parted(path); of == resource && (namespace == "" || in == namespace) && fits(r, name, a.objects[path]) {
			out = append(out, a.objects[path])
		}
	}
	return out
}

// fits knows the selectors that are sent here: metadata.name=X, K=V and a bare K.
func fits(r *http.Request, name string, o map[string]any) bool {
	if field := r.URL.Query().Get("fieldSelector"); strings.HasPrefix(field, "metadata.name=") && field != "metadata.name="+name {
		return false
	}
	labels, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
	for term := range strings.SplitSeq(r.URL.Query().Get("labelSelector"), ",") {
		key, value, valued := strings.Cut(term, "=")
		have, ok := labels[strings.TrimPrefix(key, "!")]
		if term != "" && (ok == strings.HasPrefix(key, "!") || valued && have != value) {
			return false
		}
	}
	return true
}

func (a *api) list(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, "list "+r.URL.Path)
	version := strings.TrimPrefix(strings.TrimPrefix(resource[:strings.LastIndexByte(resource, '/')], "/apis/"), "/api/")
	a.answer(w, map[string]any{
		"kind": kinds[resource] + "List", "apiVersion": version,
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(a.version)}, "items": a.chosen(r, resource, namespace),
	})
}

func (a *api) watch(w http.ResponseWriter, r *http.Request, resource, namespace string) {
	me := &watching{resource, namespace, make(chan map[string]any, 100), make(chan struct{})}
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	a.mu.Lock()
	a.asked = append(a.asked, "watch "+r.URL.Path)
	for _, o := range a.chosen(r, resource, namespace) {
		meta := o.(map[string]any)["metadata"].(map[string]any)
		if n, _ := strconv.Atoi(meta["resourceVersion"].(string)); n > since {
			me.events <- map[string]any{"type": "MODIFIED", "object": o}
		}
	}
	a.watches[me] = true
	a.mu.Unlock()
	w.(http.Flusher).Flush()
	for {
		select {
		case e := <-me.events:
			o := e["object"].(map[string]any)
			if !fits(r, o["metadata"].(map[string]any)["name"].(string), o) {
				continue
			}
			a.mu.Lock()
			a.answer(w, e)
			a.mu.Unlock()
			w.(http.Flusher).Flush()
		case <-me.closed:
			return
		case <-r.Context().Done():
			a.mu.Lock()
			delete(a.watches, me)
			a.mu.Unlock()
			return
		}
	}
}

// create takes an object in any encoding.
func (a *api) create(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest")
		return
	}
	text, _ := json.Marshal(typed)
	var o map[string]any
	_ = json.Unmarshal(text, &o)
	a.note(r, string(text))
	a.answer(w, a.store(o))
}

func (a *api) note(r *http.Request, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrote = append(a.wrote, r.Method+" "+r.URL.Path+" "+text)
}

func patched(old, body []byte, contentType string) ([]byte, error) {
	if contentType != "application/json-patch+json" {
		return jsonpatch.MergePatch(old, body)
	}
	p, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, err
	}
	return p.Apply(old)
}

func (a *api) patch(w http.ResponseWriter, r *http.Request, sub string) {
	body, _ := io.ReadAll(r.Body)
	a.note(r, string(body))
	path := strings.TrimSuffix(r.URL.Path, "/"+sub)
	a.mu.Lock()
	old, err := json.Marshal(a.objects[path])
	a.mu.Unlock()
	if err == nil {
		old, err = patched(old, body, r.Header.Get("Content-Type"))
	}
	var o map[string]any
	if err == nil {
		err = json.Unmarshal(old, &o)
	}
	if err != nil || o["kind"] == nil {
		refuse(w, http.StatusNotFound, "NotFound")
		return
	}
	a.answer(w, a.store(o))
}
