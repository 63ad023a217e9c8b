package argocd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"

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
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, helm, a.helmArgs(w.values)...)
	c.Dir, c.Stdout, c.Stderr = w.dir, &out, &complaint
	if err := c.Run(); err != nil {
		return nil, &resource.Error{File: chart, Err: fmt.Errorf("helm template: %w: %s", err, w.trimmed(complaint.String()))}
	}
	return out.Bytes(), nil
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
