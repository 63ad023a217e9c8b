package argocd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// template runs helm over the chart in the working folder. Nothing is fetched: charts
// that it needs lie in its charts folder.
func (a *application) template(ctx context.Context) ([]byte, error) {
	helm, err := exec.LookPath("helm")
	if err != nil {
		return nil, &resource.Error{File: chart, Err: errors.New("there is no helm to render this chart with"), Hint: "put a helm binary into the plugin's image, or set the option source to directory or kustomize"}
	}
	args, err := a.helmArgs()
	if err != nil {
		return nil, err
	}
	var out, complaint bytes.Buffer
	c := exec.CommandContext(ctx, helm, args...)
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		return nil, &resource.Error{File: chart, Err: fmt.Errorf("helm template: %w: %s", err, strings.TrimSpace(complaint.String()))}
	}
	return out.Bytes(), nil
}

// helmArgs tells helm of the destination what Argo CD's own helm would be told.
func (a *application) helmArgs() ([]string, error) {
	name := a.env.App
	if name == "" {
		name = "release"
	}
	args := []string{"template", name, ".", "--include-crds"}
	if a.settings.Namespace != "" {
		args = append(args, "--namespace", a.settings.Namespace)
	}
	if a.env.KubeVersion != "" {
		args = append(args, "--kube-version", a.env.KubeVersion)
	}
	for _, v := range a.env.APIVersions {
		args = append(args, "--api-versions", v)
	}
	for _, file := range a.settings.HelmValues {
		// Reading it shows that it lies within the repository.
		if _, err := a.read(file); err != nil {
			return nil, err
		}
		args = append(args, "--values", filepath.FromSlash(file))
	}
	return args, nil
}
