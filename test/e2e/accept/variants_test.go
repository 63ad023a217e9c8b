package accept

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// variant is one way to render.
type variant struct {
	name    string
	options render.Options
	context []map[string]any
	// changed has the state before given, with other images.
	changed bool
}

// variants are the ways that make different objects for the server's version.
func variants(server int) []variant {
	return []variant{
		{name: "native", options: render.Options{Kubernetes: server}},
		{name: "native, known world", options: render.Options{Kubernetes: server, ProtectAll: true}, context: world()},
		{name: "client", options: render.Options{Kubernetes: server, Driver: stage.Client}, context: world()},
		{name: "policies and constraints", options: render.Options{Kubernetes: server, SidecarSetAs: stage.Admission, SpreadAs: stage.SpreadConstraints}, context: world()},
		{name: "changed", options: render.Options{Kubernetes: server}, context: world(), changed: true},
		{name: "kruise", options: render.Options{Kubernetes: server, Target: render.Kruise, Expand: spread()}, context: world()},
	}
}

// versions are the plain way for all older versions of Kubernetes: what was right
// for them the server must still take.
func versions(server int) []variant {
	var list []variant
	for v := stage.OldestKubernetes; v < server; v++ {
		list = append(list, variant{name: fmt.Sprintf("native for 1.%d", v), options: render.Options{Kubernetes: v}, context: world()})
	}
	return list
}

// spread are the kinds that are worth expanding where Kruise is served: those
// that make or change objects of other kinds.
func spread() []string {
	var out []string
	for _, kind := range render.Expandable {
		switch kind {
		case "ResourceDistribution", "SidecarSet", "UnitedDeployment", "WorkloadSpread", "PersistentPodState":
			out = append(out, kind)
		}
	}
	return out
}

// world is the cluster that was recorded, as far as any rendering needs it: its
// nodes, and a namespace.
func world() []map[string]any {
	out := []map[string]any{{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "team-a"}}}
	for i, zone := range []string{"a", "b", "c", "a", "b"} {
		name := fmt.Sprintf("fake-node-%d", i)
		out = append(out, map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{
			"name": name, "labels": map[string]any{
				"kubernetes.io/hostname": name, "lab.test/fake": "true", "topology.kubernetes.io/zone": "zone-" + zone,
			},
		}})
	}
	return out
}

// made is an object that rendering made or changed, and one place where.
type made struct {
	object *unstructured.Unstructured
	from   string
}

// rendering gathers the different objects that come out, and what is refused.
type rendering struct {
	mu      sync.Mutex
	objects map[string]made
	refused map[string]error
}

func newRendering() *rendering {
	return &rendering{objects: map[string]made{}, refused: map[string]error{}}
}

// gather renders every input in every way, on all cores.
func (all *rendering) gather(t *testing.T, inputs []input, ways []variant) {
	t.Helper()
	each(len(inputs), runtime.GOMAXPROCS(0), func(i int) {
		for _, way := range ways {
			from := inputs[i].name + " (" + way.name + ")"
			if err := all.render(inputs[i], way, from); err != nil {
				t.Errorf("%s: %v", from, err)
			}
		}
	})
}

func (all *rendering) render(in input, way variant, from string) error {
	opt := way.options
	opt.Workers = 1
	opt.Context = append(parsed(in.context), parsed(way.context)...)
	if way.changed {
		opt.Base = parsed(before(in.stream))
	}
	res, err := render.Render(context.Background(), parsed(in.stream), opt)
	if err != nil {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.refused[from] = err
		return nil
	}
	for _, r := range res.Resources {
		if !r.Changed() {
			continue // it is the user's own
		}
		object, _ := tree.Value(r.Node()).(map[string]any)
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		all.add(string(text), made{&unstructured.Unstructured{Object: object}, from})
	}
	return nil
}

// before are the objects with other images.
func before(stream []map[string]any) []map[string]any {
	out := make([]map[string]any, len(stream))
	for i, d := range stream {
		out[i], _ = older(d).(map[string]any)
	}
	return out
}

func older(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if image, ok := value.(string); ok && key == "image" {
				value = image + "-before"
			}
			out[key] = older(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = older(v[i])
		}
		return out
	}
	return v
}

// add keeps each object once, with the first of the places by name.
func (all *rendering) add(text string, m made) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if known, ok := all.objects[text]; !ok || m.from < known.from {
		all.objects[text] = m
	}
}

// each calls f for 0 to n-1, by so many workers at a time.
func each(n, workers int, f func(i int)) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range work {
				f(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}
