package argocd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// workspace is a folder with a copy of the chart and of the files of values, without a
// link: Helm follows links wherever they lead, and this is all that it is told of.
type workspace struct {
	dir string
	// values are the copies of the files of values, by their paths in the folder.
	values []string
}

// chartFolder is where the copy of the chart is in a workspace.
const chartFolder = "chart"

// workspace copies what Helm is to read. What the chart links to within the repository
// is copied; anything else is refused.
func (a *application) workspace(ctx context.Context) (w workspace, err error) {
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
	c := &copying{root: root, shown: a.folder, unpacked: mostUnpacked}
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

func (w workspace) remove() { _ = os.RemoveAll(w.dir) }

// copying copies folders of a repository.
type copying struct {
	root *rooted.Root
	// shown is the folder that faults name files from.
	shown string
	count int
	// unpacked is how much may be in charts within the chart.
	unpacked int64
}

// folder copies a folder; above are those that it was reached through, without links.
func (c *copying) folder(from, to string, above []string) error {
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

func (c *copying) entry(from, to string, above []string) error {
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
	if err := inert(c.name(from), text, 0, &c.unpacked); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// name is a file's as the application names it.
func (c *copying) name(path string) string {
	if rel, err := filepath.Rel(c.shown, path); err == nil {
		return rel
	}
	return path
}

// fault names a file as the application does.
func (c *copying) fault(path string, err error) error {
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
func (w workspace) trimmed(said string) string {
	return strings.TrimSpace(strings.ReplaceAll(said, w.dir+string(filepath.Separator), ""))
}
