package argocd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/redact"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// template runs helm over a copy of the chart in the working folder. Nothing is fetched:
// charts that it needs lie in its charts folder.
func (a *application) template(ctx context.Context) ([]byte, error) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		return nil, &resource.Error{File: chart, Err: errors.New("there is no helm to render this chart with"), Hint: "put a helm binary into the plugin's image, or set the option source to directory or kustomize"}
	}
	w, err := a.workspace(ctx)
	if err != nil {
		return nil, err
	}
	defer w.remove()
	ctx, end := context.WithCancel(ctx)
	defer end()
	out, complaint := bounded{most: load.DefaultMaxFileBytes, end: end}, bounded{most: mostComplaint, end: end}
	c := exec.CommandContext(ctx, helm, a.helmArgs(w.values)...)
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = w.dir, &out, &complaint, time.Second
	err = c.Run()
	if out.over || complaint.over {
		return nil, &resource.Error{File: chart, Err: errOutput, Hint: "split the application"}
	}
	if err != nil {
		return nil, &resource.Error{File: chart, Err: fmt.Errorf("helm template: %w: %s", err, w.told(complaint.kept.String()))}
	}
	return out.kept.Bytes(), nil
}

// mostComplaint is how much Helm may say.
const mostComplaint = 4 << 20

// told is what Helm says, without values: those of a chart are its passwords, too, and its
// templates may print them. What a template says by a text of its own is kept.
func (w workspace) told(said string) string {
	known := redact.Names{}
	for _, word := range helmWords {
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
			own = append(own, sentences(text)...)
			for _, m := range defined.FindAllSubmatch(text, -1) {
				known.Add(string(m[1]))
			}
		}
		return nil
	})
	return redact.Message(w.trimmed(said), known, own...)
}

// helmWords are what Helm's errors have of its own beside their sentences.
var helmWords = []string{"Error", "template", "include", "required", "fail", "executing", "Values", "Release", "Chart"}

var (
	// spoken matches what a template says when it fails, defined the names of templates.
	spoken  = regexp.MustCompile(`\b(?:fail|required)\s+(?:\(\s*printf\s+)?"((?:[^"\\]|\\.)*)"`)
	defined = regexp.MustCompile(`\bdefine\s+"([^"]*)"`)
	verb    = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)
)

// sentences are the fixed parts of what templates say when they fail.
func sentences(text []byte) (out []string) {
	for _, m := range spoken.FindAllSubmatch(text, -1) {
		out = append(out, verb.Split(string(m[1]), -1)...)
	}
	return out
}

// helmArgs tells helm of the destination what Argo CD's own helm would be told. Nothing
// that the repository or the application says can be taken for a flag, and no name of a
// file for several: they are those of the workspace.
func (a *application) helmArgs(values []string) []string {
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
