// Package conformance is what an API server answers, as a table of requests: it is run on the one in memory and on a
// real one, so that the first is not believed to be what it is not.
package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// step is one request.
type step struct {
	// do is a method and a path such as "PATCH deployments/web/status", as names the answer.
	do, as string
	// kind is the content type of a patch.
	kind types.PatchType
	body string
	code int
	// want are fields of the answer and their values; "-" is for one that is not there, "*" for any value.
	want map[string]string
	// until is whether the request is sent again until it is answered so.
	until bool
}

const (
	merge     = types.MergePatchType
	jsonPatch = types.JSONPatchType
	strategic = types.StrategicMergePatchType
	apply     = types.ApplyPatchType
)

var places = map[string]string{
	"configmaps": "/api/v1", "pods": "/api/v1", "nodes": "/api/v1", "deployments": "/apis/apps/v1", "leases": "/apis/coordination.k8s.io/v1",
	"clonesets": "/apis/apps.kruise.io/v1beta1", "poddisruptionbudgets": "/apis/policy/v1", "daemonsets": "/apis/apps/v1",
}

// bed is one case on one server.
type bed struct {
	*testing.T

	config    *rest.Config
	client    *http.Client
	namespace string
	answers   map[string]map[string]any
}

// Run runs all cases. Each has a namespace of its own in a cluster where nothing acts on Kruise's objects.
func Run(t *testing.T, config *rest.Config, namespace func(t *testing.T) string) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bed{t, config, client, namespace(t), map[string]map[string]any{}}
			for i, s := range steps {
				b.step(i, s)
			}
		})
	}
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		watches(t, config, namespace(t))
	})
}

var reference = regexp.MustCompile(`\{([a-z0-9]+)\.([A-Za-z.]+)\}`)

// filled puts fields of earlier answers into a text.
func (b *bed) filled(text string) string {
	return reference.ReplaceAllStringFunc(strings.ReplaceAll(text, "NAMESPACE", b.namespace), func(found string) string {
		parts := reference.FindStringSubmatch(found)
		return show(b.answers[parts[1]], parts[2])
	})
}

// show is a field as text.
func show(object map[string]any, path string) string {
	var value any = object
	for key := range strings.SplitSeq(path, ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[key]
		case []any:
			if i, err := strconv.Atoi(key); err == nil && i < len(at) {
				value = at[i]
			} else if key == "length" {
				value = len(at)
			} else {
				value = nil
			}
		default:
			value = nil
		}
	}
	if value == nil {
		return "-"
	}
	return fmt.Sprint(value)
}

func (b *bed) step(i int, s step) {
	b.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		code, object, text := b.send(s)
		var wrong []string
		if code != s.code {
			wrong = append(wrong, fmt.Sprintf("code %d, want %d", code, s.code))
		}
		for path, want := range s.want {
			if got, want := show(object, path), b.filled(want); got != want && (want != "*" || got == "-") {
				wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", path, got, want))
			}
		}
		if len(wrong) > 0 && s.until && time.Now().Before(end) {
			continue
		}
		if len(wrong) > 0 {
			b.Fatalf("request %d, %s: %s\n%s", i+1, s.do, strings.Join(wrong, ", "), text)
		}
		if s.as != "" {
			b.answers[s.as] = object
		}
		return
	}
}

func (b *bed) send(s step) (code int, object map[string]any, text string) {
	b.Helper()
	method, path, _ := strings.Cut(b.filled(s.do), " ")
	resource, _, _ := strings.Cut(path, "/")
	resource, _, _ = strings.Cut(resource, "?")
	switch base := places[resource]; {
	case strings.HasPrefix(path, "/"):
	case resource == "nodes":
		path = base + "/" + path
	default:
		path = base + "/namespaces/" + b.namespace + "/" + path
	}
	r, err := http.NewRequestWithContext(b.Context(), method, strings.TrimSuffix(b.config.Host, "/")+path, bytes.NewBufferString(b.filled(s.body)))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.kind != "" {
		r.Header.Set("Content-Type", string(s.kind))
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "suite/1")
	answer, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		b.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	_ = d.Decode(&object)
	return answer.StatusCode, object, string(raw)
}

// watches: changes come in their order and versions, and what is not selected any more is gone.
func watches(t *testing.T, config *rest.Config, namespace string) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	list, err := maps.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(labels, data map[string]any) {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x", "labels": labels}, "data": data,
		}}
		if _, err := maps.Apply(t.Context(), "x", u, metav1.ApplyOptions{FieldManager: "suite"}); err != nil {
			t.Fatal(err)
		}
	}
	selected := map[string]any{"a": "b"}
	put(nil, nil)
	put(selected, nil)
	put(selected, map[string]any{"k": "1"})
	put(selected, map[string]any{"k": "1"})
	put(nil, map[string]any{"k": "2"})
	put(nil, map[string]any{"k": "3"})
	put(selected, nil)
	if err := maps.Delete(t.Context(), "x", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := maps.Watch(t.Context(), metav1.ListOptions{LabelSelector: "a=b", ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var got []string
	var versions []int
	for len(got) < 5 {
		select {
		case e := <-w.ResultChan():
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("after %v comes %v", got, e)
			}
			version, _ := strconv.Atoi(u.GetResourceVersion())
			got, versions = append(got, string(e.Type)), append(versions, version)
		case <-time.After(time.Minute):
			t.Fatalf("only %v", got)
		}
	}
	if want := []string{"ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"}; !slices.Equal(got, want) || !slices.IsSorted(versions) {
		t.Errorf("%v %v, want %v", got, versions, want)
	}
}
