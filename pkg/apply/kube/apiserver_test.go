package kube

import (
	"context"
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
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// apiServer is as much of an API server as watches, creations and patches need: it keeps
// what is written, and numbers it.
type apiServer struct {
	*httptest.Server

	mu      sync.Mutex
	version int
	// served are the collections there are, such as "apps/v1/deployments", with their kind;
	// refused have the status with which every request for them is answered.
	served  map[string]string
	refused map[string]int
	objects map[string]*unstructured.Unstructured
	// writes are the requests that changed something, in order.
	writes []string
	// requests are all of them, as verb and collection.
	requests []string
	watchers map[chan watched]place
	// refusedWrites are the statuses of collections that can only be read.
	refusedWrites map[string]int
}

// place is what a path names.
type place struct {
	collection, namespace, name, subresource string
	labels                                   labels.Selector
	fields                                   fields.Selector
}

// watched is one event of a watch.
type watched struct {
	Type   string                     `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

// kubernetesOwn are the collections that every API server has.
var kubernetesOwn = map[string]string{
	"v1/pods": "Pod", "v1/nodes": "Node", "v1/namespaces": "Namespace", "v1/configmaps": "ConfigMap", "v1/serviceaccounts": "ServiceAccount",
	"v1/events": "Event", "apps/v1/deployments": "Deployment", "apps/v1/statefulsets": "StatefulSet", "apps/v1/daemonsets": "DaemonSet",
	"apps/v1/replicasets": "ReplicaSet", "apps/v1/controllerrevisions": "ControllerRevision", "batch/v1/jobs": "Job",
	"policy/v1/poddisruptionbudgets": "PodDisruptionBudget", "coordination.k8s.io/v1/leases": "Lease", "events.k8s.io/v1/events": "Event",
}

// kruiseOwn are those of Kruise in its newest version.
var kruiseOwn = map[string]string{
	"apps.kruise.io/v1beta1/clonesets": "CloneSet", "apps.kruise.io/v1beta1/statefulsets": "StatefulSet", "apps.kruise.io/v1beta1/daemonsets": "DaemonSet",
	"apps.kruise.io/v1beta1/sidecarsets": "SidecarSet", "apps.kruise.io/v1beta1/imagepulljobs": "ImagePullJob", "apps.kruise.io/v1beta1/nodeimages": "NodeImage",
	"apps.kruise.io/v1alpha1/containerrecreaterequests": "ContainerRecreateRequest", "apps.kruise.io/v1beta1/uniteddeployments": "UnitedDeployment",
	"policy.kruise.io/v1alpha1/podunavailablebudgets": "PodUnavailableBudget",
}

// newAPIServer serves Kubernetes' own resources and more.
func newAPIServer(t *testing.T, more map[string]string) *apiServer {
	t.Helper()
	s := &apiServer{
		version: 1, served: maps.Clone(kubernetesOwn), refused: map[string]int{}, objects: map[string]*unstructured.Unstructured{},
		watchers: map[chan watched]place{},
	}
	maps.Copy(s.served, more)
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: s.URL} }

// put writes an object, as a controller would.
func (s *apiServer) put(t *testing.T, collection string, object any) {
	t.Helper()
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		u = &unstructured.Unstructured{Object: value}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(collection, u.DeepCopy())
}

// remove deletes an object.
func (s *apiServer) remove(collection, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.objects[objectKey(collection, namespace, name)].DeepCopy()
	delete(s.objects, objectKey(collection, namespace, name))
	s.version++
	u.SetResourceVersion(strconv.Itoa(s.version))
	s.notify(collection, "DELETED", u)
}

// refuse has every request for a collection answered with a status.
func (s *apiServer) refuse(collection string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[collection] = status
}

// refuseWrites has every write of a collection answered with a status; a watch that begins later is
// not refused.
func (s *apiServer) refuseWrites(collection string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusedWrites = map[string]int{collection: status}
}

// list are the objects of a collection, by name.
func (s *apiServer) list(collection string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.matching(place{collection: collection, labels: labels.Everything(), fields: fields.Everything()})
}

// written are the writes so far.
func (s *apiServer) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.writes)
}

func objectKey(collection, namespace, name string) string {
	return collection + " " + namespace + "/" + name
}

func (s *apiServer) store(collection string, u *unstructured.Unstructured) {
	u.SetKind(s.served[collection])
	u.SetAPIVersion(collection[:strings.LastIndex(collection, "/")])
	s.version++
	k, event := objectKey(collection, u.GetNamespace(), u.GetName()), "ADDED"
	if s.objects[k] != nil {
		event = "MODIFIED"
	}
	u.SetResourceVersion(strconv.Itoa(s.version))
	if u.GetUID() == "" {
		u.SetUID(types.UID("uid-" + strconv.Itoa(s.version)))
	}
	s.objects[k] = u
	s.notify(collection, event, u)
}

func (s *apiServer) notify(collection, event string, u *unstructured.Unstructured) {
	for c, p := range s.watchers {
		if p.collection == collection && p.selects(u) {
			c <- watched{event, u.DeepCopy()}
		}
	}
}

func (p place) selects(u *unstructured.Unstructured) bool {
	return (p.namespace == "" || p.namespace == u.GetNamespace()) && p.labels.Matches(labels.Set(u.GetLabels())) &&
		p.fields.Matches(fields.Set{"metadata.name": u.GetName()})
}

func (s *apiServer) matching(p place) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, k := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(k, p.collection+" ") && p.selects(s.objects[k]) {
			out = append(out, s.objects[k])
		}
	}
	return out
}

// parsePlace reads the path and the query of a request.
func parsePlace(r *http.Request) (p place, err error) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	version := parts[1]
	rest := parts[2:]
	if parts[0] == "apis" {
		version, rest = parts[1]+"/"+parts[2], parts[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		p.namespace, rest = rest[1], rest[2:]
	}
	p.collection = version + "/" + rest[0]
	if len(rest) > 1 {
		p.name = rest[1]
	}
	if len(rest) > 2 {
		p.subresource = rest[2]
	}
	if p.labels, err = labels.Parse(r.URL.Query().Get("labelSelector")); err != nil {
		return p, err
	}
	p.fields, err = fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	return p, err
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/version" {
		_, _ = io.WriteString(w, `{"major": "1", "minor": "34"}`)
		return
	}
	p, err := parsePlace(r)
	if err != nil {
		answerStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, requestVerb(r, p)+" "+p.collection)
	refused, served := s.refused[p.collection], s.served[p.collection]
	if r.Method != http.MethodGet && refused == 0 {
		refused = s.refusedWrites[p.collection]
	}
	s.mu.Unlock()
	switch {
	case refused == http.StatusUnauthorized:
		answerStatus(w, refused, metav1.StatusReasonUnauthorized)
	case refused != 0:
		answerStatus(w, refused, metav1.StatusReasonForbidden)
	case served == "":
		answerStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.Method == http.MethodGet && r.URL.Query().Has("watch"):
		s.serveWatch(w, r, p)
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.serve(w, r, p)
	}
}

// requestVerb is the verb of a request, as in a role.
func requestVerb(r *http.Request, p place) string {
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Has("watch"):
		return "watch"
	case r.Method == http.MethodGet && p.name == "":
		return "list"
	case r.Method == http.MethodPut:
		return "update"
	case r.Method == http.MethodPost:
		return "create"
	}
	return strings.ToLower(r.Method)
}

// requested are the verbs of the requests for a collection so far, in order.
func (s *apiServer) requested(collection string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, request := range s.requests {
		if verb, of, _ := strings.Cut(request, " "); of == collection {
			out = append(out, verb)
		}
	}
	return out
}

// serve answers everything but watches.
func (s *apiServer) serve(w http.ResponseWriter, r *http.Request, p place) {
	have := s.objects[objectKey(p.collection, p.namespace, p.name)]
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		answerStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	case r.Method == http.MethodGet && p.name == "":
		items := []any{}
		for _, u := range s.matching(p) {
			items = append(items, u.Object)
		}
		answer(w, http.StatusOK, map[string]any{
			"kind": s.served[p.collection] + "List", "apiVersion": p.collection[:strings.LastIndex(p.collection, "/")], "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
		})
	case r.Method == http.MethodPost && p.name == "":
		u, err := decoded(body)
		if err != nil {
			answerStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		u.SetNamespace(p.namespace)
		if s.objects[objectKey(p.collection, p.namespace, u.GetName())] != nil {
			answerStatus(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
			return
		}
		if r.URL.Query().Has("dryRun") {
			answer(w, http.StatusCreated, u.Object)
			return
		}
		s.writes = append(s.writes, "create "+p.collection)
		s.store(p.collection, u)
		answer(w, http.StatusCreated, u.Object)
	case have == nil:
		answerStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case r.Method == http.MethodGet:
		answer(w, http.StatusOK, have.Object)
	case r.Method == http.MethodPut:
		u, err := decoded(body)
		if err != nil {
			answerStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		if u.GetResourceVersion() != have.GetResourceVersion() {
			answerStatus(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
		s.writes = append(s.writes, "update "+p.collection+"/"+p.name)
		s.store(p.collection, u)
		answer(w, http.StatusOK, u.Object)
	case r.Method == http.MethodPatch:
		u, err := patchedObject(have, body)
		if err != nil {
			answerStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		s.writes = append(s.writes, "patch "+p.collection+"/"+p.name)
		s.store(p.collection, u)
		answer(w, http.StatusOK, u.Object)
	default:
		s.writes = append(s.writes, r.Method+" "+r.URL.Path+", refused")
		answerStatus(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed)
	}
}

// decoded reads a body in JSON or protobuf.
func decoded(body []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if json.Unmarshal(body, &u.Object) == nil {
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

// patchedObject is an object after a strategic merge patch, as pods are patched.
func patchedObject(have *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	before, err := have.MarshalJSON()
	if err != nil {
		return nil, err
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, corev1.Pod{})
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(after)
}

// serveWatch sends what changes from now on. One that wants to begin with all there is is
// refused: the client lists.
func (s *apiServer) serveWatch(w http.ResponseWriter, r *http.Request, p place) {
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		answerStatus(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
		return
	}
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	events := make(chan watched, 1000)
	s.mu.Lock()
	for _, u := range s.matching(p) {
		if version, _ := strconv.Atoi(u.GetResourceVersion()); version > since {
			events <- watched{"ADDED", u.DeepCopy()}
		}
	}
	s.watchers[events] = p
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, events)
	}()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-events:
			if json.NewEncoder(w).Encode(e) != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func answerStatus(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
		Message: fmt.Sprintf("the test server says %s", reason),
	})
}

// eventually waits until a condition holds, which is asked again after each change.
func eventually(t *testing.T, changes *changeSignal, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		version, _ := changes.current()
		if holds() {
			return
		}
		if err := changes.wait(ctx, version, time.Time{}); err != nil {
			t.Fatalf("after a minute still not: %s", what)
		}
	}
}
