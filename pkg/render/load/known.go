package load

import (
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// configFile is the name under which the configuration for Kruise's kinds stands
// in every directory, for kustomize's eyes only.
const configFile = ".kubectl-kruise.kustomizeconfig.yaml"

// configured is a file system in which every kustomization lists the
// configuration for Kruise's kinds. Nothing is written to the real one.
type configured struct {
	filesys.FileSystem
	config []byte
}

func ours(path string) bool { return filepath.Base(path) == configFile }

func (c configured) Exists(path string) bool {
	if ours(path) {
		return c.FileSystem.Exists(filepath.Dir(path))
	}
	return c.FileSystem.Exists(path)
}

// CleanedAbs is asked for a file before it is read: the load restrictions look
// at what it says.
func (c configured) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if !ours(path) {
		return c.FileSystem.CleanedAbs(path)
	}
	dir, _, err := c.FileSystem.CleanedAbs(filepath.Dir(path))
	return dir, configFile, err
}

func (c configured) ReadFile(path string) ([]byte, error) {
	if ours(path) {
		return c.config, nil
	}
	b, err := c.FileSystem.ReadFile(path)
	if err != nil || !slices.Contains(kustomizationFiles, filepath.Base(path)) {
		return b, err
	}
	return listing(b), nil
}

// listing adds the configuration to a kustomization. What cannot be read as one
// is for kustomize to complain about.
func listing(kustomization []byte) []byte {
	n, err := yaml.Parse(string(kustomization))
	if err != nil || n.YNode().Kind != yaml.MappingNode {
		return kustomization
	}
	list, err := n.Pipe(yaml.LookupCreate(yaml.SequenceNode, "configurations"))
	if err != nil {
		return kustomization
	}
	if err := list.PipeE(yaml.Append(yaml.NewStringRNode(configFile).YNode())); err != nil {
		return kustomization
	}
	text, err := n.String()
	if err != nil {
		return kustomization
	}
	return []byte(text)
}

// conflicting reports whether a build failed because a configuration of the
// user's own says something else about the same field.
func conflicting(err error) bool { return strings.Contains(err.Error(), "conflicting fieldspecs") }
