// Package memory is an API server in the test's own process: discovery, lists, watches, versions, generations,
// conflicts, finalizers, owners, owned fields and subresources as Kubernetes has them, over objects that are
// stored in memory. What it answers is tested by one suite here and against a real API server
// (package conformance below). Nothing acts on the objects: see package cluster.
//
// It has no authorization, no validation and one version of each kind.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// Admission is a webhook: it returns a JSON patch, or why the request is refused. An error that is an
// [apierrors.APIStatus] is answered as it is.
type Admission func(ctx context.Context, r *admissionv1.AdmissionRequest) (patch []byte, err error)

// Server is one API server.
type Server struct {
	*httptest.Server

	list   []*Resource
	owners owners

	// mu guards what is below. Admission is asked without it.
	mu          sync.Mutex
	version     int64
	collections map[schema.GroupVersionResource]*collection
	// alive are the UIDs of all that is stored.
	alive map[types.UID]bool
	// changed is closed with the next change.
	changed   chan struct{}
	admission []Admission
	seen      []func(*http.Request)
}

// New serves Kubernetes' own resources and more, with the namespaces that every cluster has.
func New(more ...*Resource) *Server {
	s := &Server{
		list: append(natives(), more...), version: 1, collections: map[schema.GroupVersionResource]*collection{}, changed: make(chan struct{}), alive: map[types.UID]bool{},
	}
	for _, name := range []string{"default", "kube-node-lease", "kube-system"} {
		namespaces := s.resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
		u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
		s.fresh(namespaces, u)
		s.put(namespaces, u)
	}
	s.Server = httptest.NewServer(s)
	return s
}

// Close ends the server and its watches.
func (s *Server) Close() {
	s.CloseClientConnections()
	s.Server.Close()
}

// Config is how clients reach the server, without a limit of requests.
func (s *Server) Config() *rest.Config { return &rest.Config{Host: s.URL, QPS: -1} }

// Kubeconfig is a file's content for programs. Its host is localhost, which tells their requests apart from those of controllers.
func (s *Server) Kubeconfig() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: memory
contexts: [{name: memory, context: {cluster: memory, user: memory}}]
clusters: [{name: memory, cluster: {server: %q}}]
users: [{name: memory, user: {}}]
`, strings.Replace(s.URL, "127.0.0.1", "localhost", 1))
}

// Admit adds a webhook.
func (s *Server) Admit(a Admission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admission = append(s.admission, a)
}

// Seen has a function called with each request that begins from now on, from any goroutine; it returns one that ends that.
func (s *Server) Seen(f func(*http.Request)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, f)
	i := len(s.seen) - 1
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[i] = func(*http.Request) {}
	}
}

// Served is the resource of a kind, nil when it is not served.
func (s *Server) Served(kind schema.GroupVersionKind) *Resource {
	for _, r := range s.list {
		if r.GroupVersionKind == kind {
			return r
		}
	}
	return nil
}

func (s *Server) resource(of schema.GroupVersionResource) *Resource {
	for _, r := range s.list {
		if r.key() == of {
			return r
		}
	}
	return nil
}

// request is what a request asks for.
type request struct {
	*http.Request

	*Resource
	selection

	name, subresource string
	body              []byte
	dryRun            bool
}

// parse reads a path such as apis/apps/v1/namespaces/shop/deployments/web/scale.
func (s *Server) parse(r *http.Request) (*request, error) {
	q := &request{Request: r}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	gvr := schema.GroupVersionResource{}
	switch {
	case len(path) > 2 && path[0] == "api":
		gvr.Version, path = path[1], path[2:]
	case len(path) > 3 && path[0] == "apis":
		gvr.Group, gvr.Version, path = path[1], path[2], path[3:]
	default:
		return nil, errNoPath
	}
	if len(path) > 2 && path[0] == "namespaces" && path[2] != "status" && path[2] != "finalize" {
		q.namespace, path = path[1], path[2:]
	}
	gvr.Resource = path[0]
	path = append(path, "", "")
	q.name, q.subresource = path[1], path[2]
	if q.Resource = s.resource(gvr); q.Resource == nil {
		return nil, errNoPath
	}
	query := r.URL.Query()
	var err error
	if q.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return nil, apierrors.NewBadRequest("unable to parse requirement: " + err.Error())
	}
	if q.fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	q.dryRun = slices.Contains(query["dryRun"], metav1.DryRunAll)
	q.body, err = io.ReadAll(r.Body)
	return q, err
}

var errNoPath = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource",
}}

func (q *request) notFound() error {
	return apierrors.NewNotFound(q.key().GroupResource(), q.name)
}

func (q *request) conflict(format string, args ...any) error {
	return apierrors.NewConflict(q.key().GroupResource(), q.name, fmt.Errorf(format, args...))
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	seen := slices.Clone(s.seen)
	s.mu.Unlock()
	for _, f := range seen {
		f(r)
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if found, ok := s.discover(path); ok {
		answer(w, http.StatusOK, found)
		return
	}
	q, err := s.parse(r)
	if err != nil {
		refuse(w, err)
		return
	}
	if query := r.URL.Query(); r.Method == http.MethodGet && q.name == "" && (query.Get("watch") == "true" || query.Get("watch") == "1") {
		s.watch(w, q)
		return
	}
	code, body, err := s.serve(q)
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, code, meta(r, body))
}

// serve answers everything but watches.
func (s *Server) serve(q *request) (code int, body any, err error) {
	switch {
	case q.Group == "authorization.k8s.io":
		return s.review(q)
	case q.subresource == "eviction":
		return s.evict(q)
	case q.subresource == "scale" && q.Scale:
		return s.scale(q)
	case q.subresource != "" && (q.subresource != "status" || !q.Status) && q.subresource != "resize" && q.subresource != "finalize":
		return 0, nil, errNoPath
	}
	switch q.Method {
	case http.MethodGet:
		return s.read(q)
	case http.MethodPost:
		return s.create(q)
	case http.MethodPut:
		return s.update(q)
	case http.MethodPatch:
		return s.patch(q)
	case http.MethodDelete:
		if q.name == "" {
			return s.deleteAll(q)
		}
		return s.delete(q)
	}
	return 0, nil, apierrors.NewMethodNotSupported(q.key().GroupResource(), q.Method)
}

func (s *Server) read(q *request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.name != "" {
		if u := s.stored(q); u != nil {
			return http.StatusOK, u, nil
		}
		return 0, nil, q.notFound()
	}
	limit, _ := strconv.Atoi(q.URL.Query().Get("limit"))
	items, next, left, err := s.page(q.Resource, q.selection, limit, q.URL.Query().Get("continue"))
	if err != nil {
		return 0, nil, err
	}
	about := map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}
	if next != "" {
		about["continue"], about["remainingItemCount"] = next, left
	}
	return http.StatusOK, &unstructured.Unstructured{Object: map[string]any{
		"kind": q.Kind + "List", "apiVersion": q.GroupVersion().String(), "metadata": about, "items": items,
	}}, nil
}

// stored is the object that a request names.
func (s *Server) stored(q *request) *unstructured.Unstructured {
	return s.of(q.Resource).objects[nameOf(named(q))]
}

func named(q *request) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetNamespace(q.namespace)
	u.SetName(q.name)
	return u
}

// review allows everything.
func (s *Server) review(q *request) (int, any, error) {
	u, err := decode(q.body)
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	u.SetGroupVersionKind(q.GroupVersionKind)
	rules := []any{map[string]any{"verbs": []any{"*"}, "apiGroups": []any{"*"}, "resources": []any{"*"}}}
	u.Object["status"] = map[string]any{"allowed": true, "incomplete": false, "resourceRules": rules, "nonResourceRules": []any{}}
	return http.StatusCreated, u, nil
}

// watch sends the changes after a version, or all there is and then what changes.
func (s *Server) watch(w http.ResponseWriter, q *request) {
	query := q.URL.Query()
	s.mu.Lock()
	c := s.of(q.Resource)
	seen, err := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	var first []any
	whole := query.Get("sendInitialEvents") == "true"
	switch {
	case whole || err != nil || seen == 0:
		items, _, _, _ := s.page(q.Resource, q.selection, 0, "")
		for _, object := range items {
			first = append(first, event("ADDED", object))
		}
		seen = s.version
		if whole {
			first = append(first, s.bookmark(q, map[string]any{metav1.InitialEventsAnnotationKey: "true"}))
		}
	case seen < c.forgotten:
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		gone := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", seen, c.forgotten)).Status()
		gone.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
		_ = json.NewEncoder(w).Encode(event("ERROR", gone))
		return
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher, _ := w.(http.Flusher)
	out := json.NewEncoder(w)
	for _, e := range first {
		if out.Encode(e) != nil {
			return
		}
	}
	for {
		s.mu.Lock()
		var events []any
		changed := s.changed
		for i := len(c.log) - 1; i >= 0 && c.log[i].version > seen; i-- {
			if e := c.log[i].shown(q); e != nil {
				events = append(events, e)
			}
		}
		seen = s.version
		s.mu.Unlock()
		slices.Reverse(events)
		for _, e := range events {
			if out.Encode(e) != nil {
				return
			}
		}
		flusher.Flush()
		select {
		case <-q.Context().Done():
			return
		case <-changed:
		}
	}
}

// shown is a change as a watch shows it: an object that is not selected any more is gone.
func (c change) shown(q *request) any {
	was, is := c.before != nil && q.selects(c.before), q.selects(c.after)
	object := meta(q.Request, c.after)
	switch {
	case c.kind == "DELETED" && was, was && !is:
		return event("DELETED", object)
	case c.kind == "DELETED" || !is:
		return nil
	case !was:
		return event("ADDED", object)
	}
	return event("MODIFIED", object)
}

func event(kind string, object any) map[string]any {
	return map[string]any{"type": kind, "object": object}
}

func (s *Server) bookmark(q *request, annotations map[string]any) map[string]any {
	return event("BOOKMARK", map[string]any{
		"kind": q.Kind, "apiVersion": q.GroupVersion().String(),
		"metadata": map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10), "annotations": annotations},
	})
}

// meta leaves only the metadata of objects for those who ask for nothing else.
func meta(r *http.Request, body any) any {
	u, ok := body.(*unstructured.Unstructured)
	if !ok || !strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		return body
	}
	only := func(u map[string]any) map[string]any {
		return map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": u["metadata"]}
	}
	if items, ok := u.Object["items"].([]any); ok {
		list := []any{}
		for _, one := range items {
			list = append(list, only(one.(map[string]any)))
		}
		return map[string]any{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": u.Object["metadata"], "items": list}
	}
	return only(u.Object)
}

// decode reads an object in JSON, YAML's subset of it, or protobuf.
func decode(body []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if utiljson.Unmarshal(body, &u.Object) == nil && u.Object != nil {
		return u, nil
	}
	object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(*kind)
	u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	return u, err
}

func contentType(r *http.Request) string {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	st := known.Status()

	st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answer(w, int(st.Code), st)
}
