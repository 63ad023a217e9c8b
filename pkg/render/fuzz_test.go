package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// FuzzRender changes two places of a manifest of the examples: whatever it is then, the whole
// pipeline renders or refuses it, and what it renders can be read again.
func FuzzRender(f *testing.F) {
	files, err := filepath.Glob("../../examples/shop/base/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no examples", err)
	}
	var texts []string
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		in, err := load.Parse("in.yaml", []byte(text))
		if err != nil {
			return
		}
		opt := render.Options{Explain: true}
		switch len(text) % 4 {
		case 0:
			opt.Driver = stage.Client
		case 1:
			opt.Target = render.Kruise
		}
		res, err := render.Render(t.Context(), in, opt)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := emit.Stream(&out, res.Resources, stage.Limits{}); err != nil {
			t.Fatal(err)
		}
		back, err := load.Parse("out.yaml", out.Bytes())
		if err != nil || len(back) != len(res.Resources) {
			t.Errorf("%d objects went out, %d came back: %v\n%s", len(res.Resources), len(back), err, out.Bytes())
		}
	})
}
