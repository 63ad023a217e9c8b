package fn

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// job is what the function config asks for.
type job struct {
	conf *render.Config
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
	conf, err := render.ReadConfig(n)
	if err != nil {
		return nil, err
	}
	if conf.KruiseSchema != nil {
		return nil, tree.Errorf(n, render.FieldOf(n, "kruiseSchema"), "leave the option out, and list the component of 'kubectl kruise schema kustomize' under components: of the kustomization",
			"comes too late: a function gets what kustomize has built")
	}
	j := &job{conf: conf}
	kind, version := tree.StrAt(n, "kind"), tree.StrAt(n, "apiVersion")
	inGroup := resource.GroupOf(version) == kruise.Group
	switch {
	case n == nil, kind == render.ConfigKind && resource.GroupOf(version) == render.ConfigGroup, kind == "ConfigMap" && version == "v1":
		return j, nil
	case kind == distributionGenerator:
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

// injected is the function config where it is a SidecarSet that goes into pod templates, else nil.
func (j *job) injected(as stage.SidecarSetAs) *resource.Resource {
	if j.own == nil || as == stage.Admission {
		return nil
	}
	r := resource.Parsed(j.own, nil, resource.Origin{File: functionConfig})
	if r.Kind() != kruise.KindSidecarSet {
		return nil
	}
	return r
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
	for _, e := range IgnoredFields(n) {
		j.warnings = append(j.warnings, e)
	}
	j.own, err = GenerateDistribution(n, read)
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
	return internal(key) || key == localConfig || slices.Contains(declarations, key) || strings.HasPrefix(key, render.ConfigAnnotation)
}

// declarations make an object a function config (docs/facts/kustomize.md#declaration).
var declarations = []string{"config.kubernetes.io/function", "config.k8s.io/function", "config.kubernetes.io/container"}

// stream is the items on their way through the engine.
type stream struct {
	items []*tree.Node
	// all are the items as resources, one each, and behind them the job's own
	// object; an object's Seq is its index here.
	all []*member
	// in are those that the engine renders, context those that it only knows.
	in, context []*resource.Resource
	own         *member
	job         *job
}

// member is an object as it was before the engine saw it.
type member struct {
	r           *resource.Resource
	id          resource.ID
	annotations *tree.Node
}

func newStream(j *job, items []*tree.Node) *stream {
	s := &stream{items: items, job: j}
	for _, item := range items {
		s.admit(s.join(item, file(item)).r)
	}
	if j.own != nil {
		s.own = s.join(j.own, functionConfig)
		s.in = append(s.in, s.own.r)
	}
	return s
}

func (s *stream) join(n *tree.Node, file string) *member {
	r := resource.Parsed(n, nil, resource.Origin{File: file, Seq: len(s.all)})
	m := &member{r: r, id: r.ID(), annotations: tree.Shallow(tree.Get(n, "metadata", "annotations"))}
	s.all = append(s.all, m)
	return m
}

// file is the file of an item, if the orchestrator passes it.
func file(item *tree.Node) string {
	annotations := tree.Get(item, "metadata", "annotations")
	if p := tree.StrAt(annotations, filePath); p != "" {
		return p
	}
	return tree.StrAt(annotations, legacyPath)
}

// admit passes an item to the engine, unless the engine does not handle it: such items pass
// through unchanged. Local items exist but are not applied, so they count as context objects.
func (s *stream) admit(r *resource.Resource) {
	switch sound := load.Check(r) == nil; {
	case !sound && r.Group() != kruise.Group && r.Group() != kruise.PolicyGroup:
	case local(r.Node()):
		if sound && !s.job.describes(r) && !s.job.leavesAlone(r) {
			s.context = append(s.context, r)
		}
	case render.IsToolObject(r):
	case s.job.generator && !r.Is("", "Namespace"):
	case s.job.leavesAlone(r):
	default:
		s.in = append(s.in, r)
	}
}

// leavesAlone reports whether r is of the kind of the job's own object, but not that
// object: a SidecarSet as function config injects itself, not the others.
func (j *job) leavesAlone(r *resource.Resource) bool {
	return j.only != "" && r.Is(kruise.Group, j.only)
}

// describes reports whether r is the function config itself: kpt hands config
// files over as items, and kustomize does so with generators.
func (j *job) describes(r *resource.Resource) bool {
	return j.own != nil && r.Kind() == tree.StrAt(j.own, "kind") && r.Name() == tree.StrAt(j.own, "metadata", "name")
}
