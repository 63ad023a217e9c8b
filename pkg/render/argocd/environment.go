// Package argocd is what a config management plugin of Argo CD needs to know
// (docs/facts/argocd.md): the environment that Argo CD hands over, the parameters that an
// application sets and the form shows, and sync waves. It opens no file and runs
// nothing.
//
// Whatever Argo CD hands over is optional and not trusted: a variable may be
// missing, the parameters may be null, and nothing of it is taken as a path that
// leaves the repository.
package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// File is the file whose presence makes an application one of this plugin's, a
// RenderConfig.
const File = "kruise-render.yaml"

// Environment is what Argo CD passes to a plugin. Each field may be empty.
type Environment struct {
	// App is the name of the Application, Namespace that of its destination.
	App, Namespace string
	// Path is where the application lies in its repository, with slashes; "" is its top.
	Path string
	// KubeVersion is the version of the destination's API server, APIVersions what it
	// serves, as group/version or group/version/kind.
	KubeVersion string
	APIVersions []string
	// Parameters are those that the Application sets, Options what it sets by
	// variables called KRUISE_<OPTION>, by name of the option.
	Parameters []Parameter
	Options    map[string]string
}

// Parameter is one of the source's parameters. At most one of its values is set.
type Parameter struct {
	Name   string            `json:"name"`
	String *string           `json:"string,omitempty"`
	Array  []string          `json:"array,omitempty"`
	Map    map[string]string `json:"map,omitempty"`
}

// Inside reports whether Argo CD has started this process, to generate manifests.
func Inside(getenv func(string) string) bool {
	return getenv("ARGOCD_APP_NAME") != "" || getenv("ARGOCD_APP_PARAMETERS") != ""
}

// ReadEnvironment reads the variables of docs/facts/argocd.md#environment.
func ReadEnvironment(getenv func(string) string) (Environment, error) {
	e := Environment{
		App: getenv("ARGOCD_APP_NAME"), Namespace: getenv("ARGOCD_APP_NAMESPACE"),
		KubeVersion: getenv("KUBE_VERSION"), Options: map[string]string{},
	}
	e.Path = strings.TrimPrefix(path.Clean("/"+getenv("ARGOCD_APP_SOURCE_PATH")), "/")
	for v := range strings.SplitSeq(getenv("KUBE_API_VERSIONS"), ",") {
		if v = strings.TrimSpace(v); v != "" {
			e.APIVersions = append(e.APIVersions, v)
		}
	}
	for _, name := range names() {
		if text := getenv(given + variable(name)); text != "" {
			e.Options[name] = text
		}
	}
	return e, e.parameters(getenv("ARGOCD_APP_PARAMETERS"))
}

func (e *Environment) parameters(text string) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &e.Parameters); err != nil {
		return &resource.Error{File: "ARGOCD_APP_PARAMETERS", Err: errNoList, Hint: "Argo CD writes a JSON list of parameters; set them below spec.source.plugin.parameters"}
	}
	for i, p := range e.Parameters {
		if p.Name == "" {
			return &resource.Error{File: "ARGOCD_APP_PARAMETERS", Err: fmt.Errorf("parameter %d has no name", i+1)}
		}
	}
	return nil
}

// errNoList holds nothing of the text: what an environment holds may be secret.
var errNoList = errors.New("is no list of parameters")

// variable is the name of the variable for an option: kubernetesVersion becomes
// KRUISE_KUBERNETES_VERSION.
func variable(option string) string {
	var b strings.Builder
	b.WriteString(prefix)
	upper := true // several capitals in a row are one word: allowPreviewAPIs
	for _, c := range option {
		capital := c >= 'A' && c <= 'Z'
		if capital && !upper {
			b.WriteByte('_')
		}
		upper = capital
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}
