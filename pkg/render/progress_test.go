package render_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/lint"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// TestProgress: reading, from files and from layers of a kustomization, rendering, checking and comparing say
// how much is done: something in between, more than the whole never, and nearly the whole at the end.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for side, image := range map[string]string{"old": "1", "new": "2"} {
		var names []string
		for i := range 10 {
			name := fmt.Sprintf("web-%d.yaml", i)
			write(filepath.Join(side, "base", name), fmt.Sprintf(`apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web-%d}
spec:
  replicas: 2
  selector: {matchLabels: {app: web-%[1]d}}
  template:
    metadata: {labels: {app: web-%[1]d}}
    spec: {containers: [{name: web, image: "registry.example.com/web:%s"}]}
`, i, image))
			names = append(names, name)
		}
		write(side+"/base/kustomization.yaml", "resources: ["+strings.Join(names, ", ")+"]\n")
		write(side+"/top/kustomization.yaml", "namePrefix: shop-\nresources: [../base]\n")
	}
	read := func(p resource.Progress, side string) []*resource.Resource {
		list, err := load.Load(resource.WithProgress(t.Context(), p), load.Options{Kustomize: filepath.Join(dir, side, "top"), Root: dir, Undecided: &[]*resource.Error{}})
		if err != nil || len(list) != 10 {
			t.Fatal(len(list), err)
		}
		return list
	}
	for name, work := range map[string]func(resource.Progress){
		"kustomization": func(p resource.Progress) { read(p, "old") },
		"files": func(p resource.Progress) {
			var files []string
			for i := range 10 {
				files = append(files, fmt.Sprintf("%s/old/base/web-%d.yaml", dir, i))
			}
			if _, err := load.Load(resource.WithProgress(context.Background(), p), load.Options{Files: files}); err != nil {
				t.Error(err)
			}
		},
		"render": func(p resource.Progress) {
			if _, err := render.Render(t.Context(), read(nil, "old"), render.Options{Progress: p}); err != nil {
				t.Error(err)
			}
		},
		"lint": func(p resource.Progress) { lint.Run(t.Context(), lint.Request{Objects: read(nil, "old"), Progress: p}) },
		"compare": func(p resource.Progress) {
			compare.Run(t.Context(), read(nil, "old"), read(nil, "new"), compare.Options{Progress: p})
		},
	} {
		var lock sync.Mutex
		between, most := 0, 0.
		work(func(done float64) {
			lock.Lock()
			defer lock.Unlock()
			if most = max(most, done); done > 0 && done < 1 {
				between++
			}
		})
		if between < 5 || most < .8 || most > 1.0001 {
			t.Errorf("%s: %d reports, at most %v", name, between, most)
		}
	}
}
