package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// kustomization is what the customized objects go through.
const kustomization = `resources: [all.yaml]
namespace: other
namePrefix: p-
labels: [{pairs: {team: shop}}]
images: [{name: registry.example.org/mesh/agent-1, newTag: v4}]
`

// buildLinear is what render -k does before it renders.
func buildLinear(dir string, out io.Writer) error {
	b, err := load.Kustomize(dir)
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

// buildKustomize is kustomize itself, in process.
func buildKustomize(dir string, out io.Writer) error {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return err
	}
	b, err := objects.AsYaml()
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

// kustomize prints what a build takes with and without kustomize itself, which is
// run once per size: its time grows with the square of the objects.
func (b *bench) kustomize(ctx context.Context) (good bool, err error) {
	t := b.tabbed()
	row(t, "objects of a kustomization", "render -k", "kustomize", "ratio", "memory, ratio")
	for _, n := range []int{1000, 5000} {
		folder := filepath.Join(b.dir, fmt.Sprintf("kustomization-%d", n))
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return false, err
		}
		for name, text := range map[string][]byte{"kustomization.yaml": []byte(kustomization), "all.yaml": generate(n)} {
			if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
				return false, err
			}
		}
		ours, err := measure(ctx, b.runs, "build", folder)
		if err != nil {
			return false, err
		}
		theirs, err := measure(ctx, 1, "build-kustomize", folder)
		if err != nil {
			return false, err
		}
		row(t, strconv.Itoa(n), milliseconds(ours.Wall), milliseconds(theirs.Wall),
			fmt.Sprintf("%.3f", float64(ours.Wall)/float64(theirs.Wall)), fmt.Sprintf("%.2f", float64(ours.Peak)/float64(theirs.Peak)))
	}
	return true, t.Flush()
}
