package render_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// manifests writes a file of n CloneSets and a SidecarSet that matches all of
// them. The comparison with plain kyaml is `make bench`.
func manifests(b *testing.B, n int) (file string, size int64) {
	b.Helper()
	var text strings.Builder
	text.WriteString("apiVersion: apps.kruise.io/v1beta1\nkind: SidecarSet\nmetadata: {name: s}\nspec:\n  selector:\n    matchLabels: {tier: t}\n  containers:\n  - name: agent\n    image: agent:1\n    resources:\n      limits: {memory: 64Mi}\n")
	for i := range n {
		fmt.Fprintf(&text, "---\n# app %[1]d\napiVersion: apps.kruise.io/v1beta1\nkind: CloneSet\nmetadata:\n  name: a%[1]d\nspec:\n  selector:\n    matchLabels: {app: a%[1]d}\n  template:\n    metadata:\n      labels: {app: a%[1]d, tier: t}\n    spec:\n      containers:\n      - name: main\n        image: \"a:%[1]d\" # pinned\n        args: [--port, \"8080\"]\n", i)
	}
	file = filepath.Join(b.TempDir(), "in.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return file, int64(text.Len())
}

func loaded(b *testing.B, file string) []*resource.Resource {
	b.Helper()
	in, err := load.Load(b.Context(), load.Options{Files: []string{file}})
	if err != nil {
		b.Fatal(err)
	}
	return in
}

func BenchmarkLoad(b *testing.B) {
	file, size := manifests(b, 1000)
	b.SetBytes(size)
	for b.Loop() {
		loaded(b, file)
	}
}

func BenchmarkRender(b *testing.B) {
	file, size := manifests(b, 1000)
	b.SetBytes(size)
	for b.Loop() {
		b.StopTimer()
		in := loaded(b, file)
		b.StartTimer()
		if _, err := render.Render(b.Context(), in, render.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmit(b *testing.B) {
	file, size := manifests(b, 1000)
	res, err := render.Render(b.Context(), loaded(b, file), render.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if err := emit.Stream(io.Discard, res.Resources, stage.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
