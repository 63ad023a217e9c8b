package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Bounds of a chart. Helm keeps all of it in memory.
const (
	mostChartBytes = 256 << 20
	mostChartFiles = 20_000
	// mostUnpacked bounds the charts that are packed into it, together.
	mostUnpacked = 100 << 20
)

// chartWorkspace is a folder with a copy of the chart and of the files of values, without a
// link: Helm follows links wherever they lead, and this is all that it is given.
type chartWorkspace struct {
	dir string
	// values are the copies of the files of values, by their paths in the folder.
	values []string
}

// chartFolder is where the copy of the chart is in a workspace.
const chartFolder = "chart"

// chartWorkspace copies what Helm is to read. What the chart links to within the repository
// is copied; anything else is refused.
func (a *argocdApplication) workspace(ctx context.Context) (w chartWorkspace, err error) {
	root, err := rooted.Open(ctx, a.root, rooted.Limits{FileBytes: mostChartBytes, AllBytes: mostChartBytes, Files: mostChartFiles})
	if err != nil {
		return w, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if w.dir, err = os.MkdirTemp("", "kubectl-kruise-chart-"); err != nil {
		return w, err
	}
	defer func() {
		if err != nil {
			w.remove()
		}
	}()
	c := &chartCopy{root: root, shown: a.folder, unpacked: mostUnpacked}
	if err := c.folder(a.folder, filepath.Join(w.dir, chartFolder), nil); err != nil {
		return w, err
	}
	for i, file := range a.settings.HelmValues {
		text, err := a.read(file)
		if err != nil {
			return w, err
		}
		name := fmt.Sprintf("values-%d.yaml", i+1)
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o600); err != nil {
			return w, err
		}
		w.values = append(w.values, name)
	}
	return w, nil
}

func (w chartWorkspace) remove() { _ = os.RemoveAll(w.dir) }

// chartCopy copies folders of a repository.
type chartCopy struct {
	root *rooted.Root
	// shown is the folder that faults name files from.
	shown string
	count int
	// unpacked is how much may be in charts within the chart.
	unpacked int64
}

// folder copies a folder; above are those that it was reached through, without links.
func (c *chartCopy) folder(from, to string, above []string) error {
	at, err := c.root.Locate(from)
	if err != nil {
		return c.fault(from, err)
	}
	if slices.Contains(above, at) {
		return c.fault(from, errors.New("is a link to a folder that holds it"))
	}
	list, err := c.root.ReadDir(from)
	if err != nil {
		return c.fault(from, err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range list {
		if c.count++; c.count > mostChartFiles {
			return c.fault(from, fmt.Errorf("the chart has more than %d files", mostChartFiles))
		}
		if e.Name() == ".git" {
			continue
		}
		if err := c.entry(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), append(slices.Clone(above), at)); err != nil {
			return err
		}
	}
	return nil
}

func (c *chartCopy) entry(from, to string, above []string) error {
	info, err := c.root.Stat(from)
	switch {
	case err != nil:
		return c.fault(from, err)
	case info.IsDir():
		return c.folder(from, to, above)
	}
	text, err := c.root.ReadFile(from)
	if err != nil {
		return c.fault(from, err)
	}
	if err := checkChartFile(c.name(from), text, 0, &c.unpacked); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// name is a file's as the application names it.
func (c *chartCopy) name(path string) string {
	if rel, err := filepath.Rel(c.shown, path); err == nil {
		return rel
	}
	return path
}

// fault names a file as the application does.
func (c *chartCopy) fault(path string, err error) error {
	e := &resource.Error{File: c.name(path), Err: err}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		e.Err = p.Err
	}
	switch {
	case errors.Is(err, rooted.ErrOutside):
		e.Err, e.Hint = errors.New("leads out of the repository"), "Helm is given the chart, and what it links to in the repository"
	case errors.Is(err, rooted.ErrTooLarge), errors.Is(err, rooted.ErrTooOften):
		e.Err = fmt.Errorf("the chart is larger than %d MiB, or has more than %d files", mostChartBytes>>20, mostChartFiles)
	}
	return e
}

// trimmed puts the workspace out of what Helm says.
func (w chartWorkspace) trimmed(said string) string {
	return strings.TrimSpace(strings.ReplaceAll(said, w.dir+string(filepath.Separator), ""))
}

// template runs helm over a copy of the chart in the working folder. Nothing is fetched:
// charts that it needs lie in its charts folder.
func (a *argocdApplication) template(ctx context.Context) ([]byte, error) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		return nil, &resource.Error{File: chartFileName, Err: errors.New("there is no helm to render this chart with"), Hint: "put a helm binary into the plugin's image, or set the option source to directory or kustomize"}
	}
	w, err := a.workspace(ctx)
	if err != nil {
		return nil, err
	}
	defer w.remove()
	ctx, end := context.WithCancel(ctx)
	defer end()
	out, complaint := boundedBuffer{most: load.DefaultMaxFileBytes, end: end}, boundedBuffer{most: maxHelmError, end: end}
	c := exec.CommandContext(ctx, helm, a.helmArgs(w.values)...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = w.dir, &out, &complaint, time.Second
	err = c.Run()
	if out.over || complaint.over {
		return nil, &resource.Error{File: chartFileName, Err: errOutput, Hint: "split the application"}
	}
	if err != nil {
		return nil, &resource.Error{File: chartFileName, Err: fmt.Errorf("helm template: %w: %s", err, w.helmError(complaint.kept.String()))}
	}
	return out.kept.Bytes(), nil
}

// maxHelmError is how much Helm may say.
const maxHelmError = 4 << 20

// helmError is what Helm says, without values: those of a chart are its passwords, too, and its
// templates may print them. What a template says by a text of its own is kept.
func (w chartWorkspace) helmError(said string) string {
	known := redact.Names{}
	for _, word := range helmErrorWords {
		known.Add(word)
	}
	var own []string
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return redact.Message(w.trimmed(said), known)
	}
	defer func() { _ = root.Close() }()
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read gives no names
		}
		known.Add(path)
		known.Add(d.Name())
		if d.Type().IsRegular() {
			text, _ := fs.ReadFile(root.FS(), path)
			own = append(own, errorSentences(text)...)
			for _, m := range defined.FindAllSubmatch(text, -1) {
				known.Add(string(m[1]))
			}
		}
		return nil
	})
	return redact.Message(w.trimmed(said), known, own...)
}

// helmErrorWords are what Helm's errors have of its own beside their sentences.
var helmErrorWords = []string{"Error", "template", "include", "required", "fail", "executing", "Values", "Release", "Chart"}

var (
	// spoken matches what a template says when it fails, defined the names of templates.
	spoken  = regexp.MustCompile(`\b(?:fail|required)\s+(?:\(\s*printf\s+)?"((?:[^"\\]|\\.)*)"`)
	defined = regexp.MustCompile(`\bdefine\s+"([^"]*)"`)
	verb    = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)
)

// errorSentences are the fixed parts of what templates say when they fail.
func errorSentences(text []byte) (out []string) {
	for _, m := range spoken.FindAllSubmatch(text, -1) {
		out = append(out, verb.Split(string(m[1]), -1)...)
	}
	return out
}

// helmArgs gives helm the values about the destination that Argo CD's own helm would get. Nothing
// that the repository or the application says can be taken for a flag, and no name of a
// file for several: they are those of the workspace.
func (a *argocdApplication) helmArgs(values []string) []string {
	name := a.env.App
	if name == "" {
		name = "release"
	}
	args := []string{"template", "--include-crds"}
	if a.settings.Namespace != "" {
		args = append(args, "--namespace="+a.settings.Namespace)
	}
	if a.env.KubeVersion != "" {
		args = append(args, "--kube-version="+a.env.KubeVersion)
	}
	for _, v := range a.env.APIVersions {
		args = append(args, "--api-versions="+v)
	}
	for _, file := range values {
		args = append(args, "--values="+file)
	}
	return append(args, "--", name, chartFolder)
}
