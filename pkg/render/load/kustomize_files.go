package load

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/linear"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load/rooted"
)

// disk is the file system of kustomize: it reads below a root, and writes nothing.
type disk struct {
	root *rooted.Root
	// weighed has it refuse what takes much memory once it is parsed.
	weighed bool
	weight  int
	// heavy is set when it has.
	heavy bool
	// withoutPlugins has kustomizations list no plugins.
	withoutPlugins bool
	// texts are the first of the files that were read, for the places of faults.
	texts []textFile
	bytes int
}

// close ends the reading; nil has ended.
func (d *disk) close() {
	if d != nil {
		_ = d.root.Close() // it was only read
	}
}

// textFile is a file that was read; name is its real path.
type textFile struct {
	name string
	body []byte
}

// maxTexts bounds what is kept for the places of faults.
const maxTexts = 16 << 20

// maxWeight is how many values are parsed in this process for one build: about 1 GiB.
const maxWeight = 4_000_000

// maxHeld is how many bytes are read in this process for one build: what generators make
// of a file is in memory several times.
const maxHeld = 64 << 20

var errHeavy = fmt.Errorf("%w: it holds more than %d values or %d bytes", errUnfit, maxWeight, maxHeld)

// ReadFile reads a file below the root.
func (d *disk) ReadFile(path string) ([]byte, error) {
	b, err := d.root.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d.weight += linear.Values(b)
	d.bytes += len(b)
	if d.weighed && (d.weight > maxWeight || d.bytes > maxHeld) {
		d.heavy = true
		return nil, errHeavy
	}
	if d.bytes <= maxTexts {
		d.texts = append(d.texts, textFile{path, b})
	}
	if d.withoutPlugins && slices.Contains(kustomizationFiles, filepath.Base(path)) {
		return edited(b, withoutPlugins), nil
	}
	return b, nil
}

// edited changes a kustomization. What cannot be read as one, or changed, stays as it is: it is for
// kustomize to complain about.
func edited(kustomization []byte, change func(*yaml.RNode) error) []byte {
	n, err := yaml.Parse(string(kustomization))
	if err != nil || n.YNode().Kind != yaml.MappingNode || change(n) != nil {
		return kustomization
	}
	text, err := n.String()
	if err != nil {
		return kustomization
	}
	return []byte(text)
}

// withoutPlugins empties the lists of plugins of a kustomization, and leaves their fields: kustomize
// takes no file without fields.
func withoutPlugins(n *yaml.RNode) error {
	for _, field := range []string{"generators", "transformers", "validators"} {
		if n.Field(field) == nil {
			continue
		}
		if err := n.PipeE(yaml.SetField(field, yaml.NewListRNode())); err != nil {
			return err
		}
	}
	return nil
}

// CleanedAbs resolves a path, links and all.
func (d *disk) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	at, err := d.root.Locate(path)
	if err != nil {
		return "", "", err
	}
	info, err := d.root.Stat(at)
	if err != nil {
		return "", "", err
	}
	whole := filepath.Join(d.root.Dir(), at)
	if info.IsDir() {
		return filesys.ConfirmedDir(whole), "", nil
	}
	return filesys.ConfirmedDir(filepath.Dir(whole)), filepath.Base(whole), nil
}

// Exists reports whether a path leads to something below the root.
func (d *disk) Exists(path string) bool {
	_, err := d.root.Stat(path)
	return err == nil
}

// IsDir reports whether a path leads to a folder below the root.
func (d *disk) IsDir(path string) bool {
	info, err := d.root.Stat(path)
	return err == nil && info.IsDir()
}

// ReadDir lists a folder below the root.
func (d *disk) ReadDir(path string) ([]string, error) {
	list, err := d.root.ReadDir(path)
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, err
}

// The rest of the interface is not for builds.

// Create fails.
func (*disk) Create(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// Mkdir fails.
func (*disk) Mkdir(string) error { return errors.ErrUnsupported }

// MkdirAll fails.
func (*disk) MkdirAll(string) error { return errors.ErrUnsupported }

// RemoveAll fails.
func (*disk) RemoveAll(string) error { return errors.ErrUnsupported }

// Open fails.
func (*disk) Open(string) (filesys.File, error) { return nil, errors.ErrUnsupported }

// Glob fails.
func (*disk) Glob(string) ([]string, error) { return nil, errors.ErrUnsupported }

// WriteFile fails.
func (*disk) WriteFile(string, []byte) error { return errors.ErrUnsupported }

// Walk fails.
func (*disk) Walk(string, filepath.WalkFunc) error { return errors.ErrUnsupported }

var _ filesys.FileSystem = &disk{}

// configFile is the name of the configuration for Kruise's kinds in every directory, visible to
// kustomize only.
const configFile = ".kubectl-kruise.kustomizeconfig.yaml"

// configFiles is a file system in which every kustomization lists the
// configuration for Kruise's kinds. Nothing is written to the real one.
type configFiles struct {
	filesys.FileSystem
	config []byte
}

func isConfigFile(path string) bool { return filepath.Base(path) == configFile }

func (c configFiles) Exists(path string) bool {
	if isConfigFile(path) {
		return c.FileSystem.Exists(filepath.Dir(path))
	}
	return c.FileSystem.Exists(path)
}

// CleanedAbs is called for a file before it is read: the load restrictions use its result.
func (c configFiles) CleanedAbs(path string) (filesys.ConfirmedDir, string, error) {
	if !isConfigFile(path) {
		return c.FileSystem.CleanedAbs(path)
	}
	dir, _, err := c.FileSystem.CleanedAbs(filepath.Dir(path))
	return dir, configFile, err
}

func (c configFiles) ReadFile(path string) ([]byte, error) {
	if isConfigFile(path) {
		return c.config, nil
	}
	b, err := c.FileSystem.ReadFile(path)
	if err != nil || !slices.Contains(kustomizationFiles, filepath.Base(path)) {
		return b, err
	}
	return withItem(b, "configurations", configFile), nil
}

// withItem adds an item to a list of a kustomization.
func withItem(kustomization []byte, field, item string) []byte {
	return edited(kustomization, func(n *yaml.RNode) error {
		list, err := n.Pipe(yaml.LookupCreate(yaml.SequenceNode, field))
		if err != nil {
			return err
		}
		return list.PipeE(yaml.Append(yaml.NewStringRNode(item).YNode()))
	})
}

// originFiles is a file system in which the kustomization in dir asks kustomize for the origins of
// objects, also in those below it.
type originFiles struct {
	filesys.FileSystem
	dir string
}

func (t originFiles) ReadFile(path string) ([]byte, error) {
	b, err := t.FileSystem.ReadFile(path)
	if err != nil || filepath.Dir(path) != t.dir || !slices.Contains(kustomizationFiles, filepath.Base(path)) {
		return b, err
	}
	return withItem(b, "buildMetadata", types.OriginAnnotations), nil
}
