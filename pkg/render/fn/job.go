package fn

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/config"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/rdgen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// job is what the function config asks for.
type job struct {
	conf *config.Config
	// own is the Kruise object that the function config is, or that it
	// describes; nil when it holds options only.
	own *tree.Node
	// generator: the job is to add objects; those of the input are not its
	// business.
	generator bool
	// only is the kind of own where a transformer leaves other objects of that
	// kind alone, "" elsewhere.
	only string
	// warnings are fields of the config without effect.
	warnings []error
}

// reader reads a file that the config names; nil refuses all.
type reader func(path string) ([]byte, error)

// newJob reads the function config. Its faults are *tree.Error.
func newJob(n *tree.Node, read reader) (*job, error) {
	conf, err := config.Read(n)
	if err != nil {
		return nil, err
	}
	j := &job{conf: conf}
	kind, version := tree.StrAt(n, "kind"), tree.StrAt(n, "apiVersion")
	inGroup := resource.GroupOf(version) == kruise.Group
	switch {
	case n == nil, kind == config.Kind && resource.GroupOf(version) == config.Group, kind == "ConfigMap" && version == "v1":
		return j, nil
	case kind == rdgen.Kind:
		return j, j.distribution(n, read)
	case inGroup && kind == kruise.KindUnitedDeployment:
		j.generator = true
		j.take(n, kind)
	case inGroup && (kind == kruise.KindSidecarSet || kind == kruise.KindResourceDistribution):
		if conf.Target == "" {
			conf.Target = render.Kruise
		}
		if conf.Target == render.Kruise && !slices.ContainsFunc(conf.Expand, func(k string) bool { return strings.EqualFold(k, kind) }) {
			j.only = kind
		}
		j.take(n, kind)
	default:
		return nil, tree.Errorf(n, "kind", "give a RenderConfig, a ConfigMap, a SidecarSet, a ResourceDistribution, a UnitedDeployment or a ResourceDistributionGenerator",
			"%s %s is not a function config of this program", version, kind)
	}
	return j, nil
}

// take makes n, without what concerns the function, the job's own object.
func (j *job) take(n *tree.Node, kind string) {
	j.own = undeclared(n)
	j.conf.Expand = append(j.conf.Expand, kind)
}

// distribution runs the generator of ResourceDistributions. Its output stays a
// Kruise object unless the options ask for copies.
func (j *job) distribution(n *tree.Node, read reader) (err error) {
	if read == nil {
		read = func(string) ([]byte, error) { return nil, errors.New("no files can be read here") }
	}
	if j.conf.Target == "" {
		j.conf.Target = render.Kruise
	}
	j.generator = true
	for _, e := range rdgen.Ignored(n) {
		j.warnings = append(j.warnings, e)
	}
	j.own, err = rdgen.Generate(n, read)
	return err
}

// undeclared returns a copy of a function config as a plain object: without
// options, without the function's declaration, without what orchestrators
// wrote. Above all the mark local-config must not get into what it becomes.
func undeclared(n *tree.Node) *tree.Node {
	out := tree.Clone(n)
	metadata := tree.Get(out, "metadata")
	tree.Delete(metadata, "configFn")
	annotations := tree.Get(metadata, "annotations")
	kept := tree.Map()
	tree.Each(annotations, func(k, v *tree.Node) {
		if !declares(k.Value) {
			kept.Content = append(kept.Content, k, v)
		}
	})
	switch {
	case annotations == nil:
	case len(kept.Content) == 0:
		tree.Delete(metadata, "annotations")
	default:
		annotations.Content = kept.Content
	}
	return out
}

func declares(key string) bool {
	return internal(key) || key == localConfig || slices.Contains(declarations, key) || strings.HasPrefix(key, config.Annotation)
}

// declarations make an object a function config (docs/facts/kustomize.md#declaration).
var declarations = []string{"config.kubernetes.io/function", "config.k8s.io/function", "config.kubernetes.io/container"}
