package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/memory"
)

// apiServer is an API server in memory that refuses what it is told to, and remembers what it was asked.
type apiServer struct {
	*httptest.Server

	memory *memory.Server

	mu sync.Mutex
	// requests are all of them, as verb and what it is about: a collection, for patches and updates with the name.
	requests []string
	// refused have the status with which every request for a collection is answered, refusedWrites that of those
	// that can only be read.
	refused, refusedWrites map[string]int
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
	var resources []*memory.Resource
	for collection, kind := range more {
		r := resourceOf(collection)
		resources = append(resources, &memory.Resource{
			GroupVersionKind: r.GroupVersion().WithKind(kind), Plural: r.Resource, Status: true, Generations: true,
			Cluster: kind == "SidecarSet" || kind == "NodeImage",
		})
	}
	s := &apiServer{memory: memory.New(resources...), refused: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		s.memory.Close()
	})
	for _, name := range []string{"shop", "other", "kruise-state"} {
		s.put(t, "v1/namespaces", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return s
}

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: s.URL} }

// resourceOf is what a collection is called in client-go.
func resourceOf(collection string) schema.GroupVersionResource {
	parts := strings.Split("/"+collection, "/")
	n := len(parts)
	return schema.GroupVersionResource{Group: parts[n-3], Version: parts[n-2], Resource: parts[n-1]}
}

// client asks for a collection in all namespaces without being counted or refused.
func (s *apiServer) client(collection string) dynamic.NamespaceableResourceInterface {
	return dynamic.NewForConfigOrDie(s.memory.Config()).Resource(resourceOf(collection))
}

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
	if err := s.memory.Store(resourceOf(collection), u.DeepCopy()); err != nil {
		t.Fatal(err)
	}
}

// remove deletes an object.
func (s *apiServer) remove(t *testing.T, collection, namespace, name string) {
	t.Helper()
	if err := s.client(collection).Namespace(namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
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
func (s *apiServer) list(collection string) (out []*unstructured.Unstructured) {
	list, err := s.client(collection).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err) // a test names what is not served
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

// written are the writes so far.
func (s *apiServer) written() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(request string) bool {
		verb, _, _ := strings.Cut(request, " ")
		return slices.Contains([]string{"get", "list", "watch", "dry"}, verb)
	})
}

// requested are the verbs of the requests for a collection so far, in order.
func (s *apiServer) requested(collection string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.requests {
		if verb, of, _ := strings.Cut(request, " "); of == collection || strings.HasPrefix(of, collection+"/") {
			out = append(out, verb)
		}
	}
	return out
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	collection, rest := collectionOf(r.URL.Path)
	status := s.notes(r, collection, rest)
	reason := metav1.StatusReasonForbidden
	switch status {
	case 0:
		s.memory.ServeHTTP(w, r)
		return
	case http.StatusUnauthorized:
		reason = metav1.StatusReasonUnauthorized
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(&metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(status), Reason: reason,
		Message: fmt.Sprintf("the test server says %s", reason),
	})
}

// collectionOf is what a path names, and what comes after it.
func collectionOf(path string) (collection, rest string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	n := 2 // api/v1
	if parts[0] == "apis" {
		n = 3
	}
	if len(parts) <= n {
		return "", ""
	}
	version := strings.Join(parts[1:n], "/")
	if parts = parts[n:]; len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return version + "/" + parts[0], strings.Join(parts[1:], "/")
}

// notes remembers a request, and returns the status with which it is refused, or 0.
func (s *apiServer) notes(r *http.Request, collection, rest string) int {
	verb := strings.ToLower(r.Method)
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Has("watch"):
		verb = "watch"
	case r.Method == http.MethodGet && rest == "":
		verb = "list"
	case r.Method == http.MethodPut:
		verb = "update"
	case r.Method == http.MethodPost:
		verb = "create"
	}
	if r.URL.Query().Has("dryRun") {
		verb = "dry run " + verb
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, strings.TrimSuffix(verb+" "+collection+"/"+rest, "/"))
	if status := s.refused[collection]; status != 0 || r.Method == http.MethodGet {
		return status
	}
	return s.refusedWrites[collection]
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
