// Package sidecar is the stage in which SidecarSets are injected into every
// pod template of the stream, as Kruise's admission webhook would do with the
// pods (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection). The
// sets of the input are used up; those of the context are injected too. [Start] is the stage
// after it: in which order the containers start.
package sidecar

import (
	"slices"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Run is the stage. It does nothing unless SidecarSets are to be expanded.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if !c.Expand(kind) {
		return in, nil
	}
	sets, from, err := collect(c, in)
	if err != nil {
		return nil, err
	}
	s := &injector{Context: c, sets: sets, index: inject.NewIndex(sets), namespaces: newNamespaces(c), notes: newNotes(c, from), containers: stage.NewBudget(c.Limits.OrDefault().Containers), room: c.Room()}
	if err := s.fits(in, from); err != nil {
		return nil, err
	}
	out, err := c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		if isSet(r) {
			c.Lineage.Became(r.ID())
			return nil, s.notes.fields(r)
		}
		return []*resource.Resource{r}, s.all(r)
	})
	if err := s.bounded(); err != nil {
		return nil, err
	}
	return out, err
}

// bounded fails when more was put in than may be.
func (s *injector) bounded() error {
	err := s.containers.Err("SidecarSets would put more than %s into all pod templates together", "container")
	if err == nil {
		return s.room.Err("what SidecarSets put into all pod templates")
	}
	return &resource.Error{Err: err, Hint: "render parts of it separately, or raise the limit with --limit containers=N"}
}

// injector is the stage at work.
type injector struct {
	*stage.Context
	sets       []*inject.Set
	index      *inject.Index
	namespaces *namespaces
	notes      *notes
	// containers are those that are put in, room what is left of the output for them.
	containers *stage.Budget
	room       *stage.Room
}

// all injects into every pod template of r. A path of the user that leads nowhere
// is a finding: without one, a slip of the pen would leave every sidecar out.
func (s *injector) all(r *resource.Resource) error {
	var errs resource.Errors
	templates, astray := s.Templates(r)
	if astray != "" {
		s.Findings.Add("sidecarset/template-path", r, astray, "no pod template here: nothing is injected")
	}
	for _, t := range templates {
		pod, err := s.one(r, t)
		if err == nil && pod != t.Node {
			stage.Put(r, t.Path, pod)
		}
		errs.Add(r.Wrap(err, t.Path))
	}
	return errs.Err()
}

// one returns the template with what matches injected.
func (s *injector) one(r *resource.Resource, t stage.Template) (*tree.Node, error) {
	choices, out, err := s.inject(r, t)
	if err != nil || out == nil {
		return t.Node, err
	}
	if _, err := inject.LaunchPriorities(out.Pod); err != nil {
		return nil, err
	}
	s.containers.Spend(containers(out.Pod) - containers(t.Node))
	s.notes.injected(r, t, s.namespaces.get(s.Facts.NamespaceOf(r)), choices, out)
	return out.Pod, nil
}

// inject puts into a template what matches it, and returns what was chosen; the result
// is nil where nothing may be put in.
func (s *injector) inject(r *resource.Resource, t stage.Template) ([]inject.Choice, *inject.Result, error) {
	ns := s.namespaces.get(s.Facts.NamespaceOf(r))
	if ns.outside() {
		s.explainOutside(r, t, ns)
		return nil, nil, nil
	}
	if !s.containers.Spend(0) || !s.room.Take(tree.Weight{}) {
		return nil, nil, nil
	}
	choices, err := s.choose(r, t, ns)
	if err != nil {
		return nil, nil, tree.Errorf(t.Node, "", "add the ControllerRevision of namespace kruise-system by --with or --live", "%v", err)
	}
	s.explain(r, t, choices)
	choices, others := s.apart(choices)
	contents := inject.Contents(choices)
	if !s.room.Take(weight(contents, t)) {
		return nil, nil, nil
	}
	out, err := inject.Inject(t.Node, contents, inject.Options{
		PullSecrets: s.pullSecrets(ns, t, contents),
		Limits:      ns.limits, Requests: ns.requests,
		Others: inject.Contents(others),
	})
	return choices, out, err
}

// containers counts those of a pod.
func containers(pod *tree.Node) int {
	return len(tree.Items(tree.Get(pod, "spec", "containers"))) + len(tree.Items(tree.Get(pod, "spec", "initContainers")))
}

// apart takes from the choices those that policies carry out.
func (s *injector) apart(choices []inject.Choice) (here, others []inject.Choice) {
	for _, c := range choices {
		if s.Admitted[c.Set.Name] != nil {
			others = append(others, c)
		} else {
			here = append(here, c)
		}
	}
	return here, others
}

// pullSecrets returns those of the template's ServiceAccount. The API server
// gives them to a pod that lists none before Kruise adds its own
// (docs/kruise/sidecarset.md#pull-secrets); once the template lists some it would not.
func (s *injector) pullSecrets(ns *namespace, t stage.Template, contents []*inject.Content) []*tree.Node {
	adding := slices.IndexFunc(contents, (*inject.Content).HasPullSecrets)
	if adding < 0 || len(tree.Items(tree.Get(t.Node, "spec", "imagePullSecrets"))) > 0 {
		return nil
	}
	name := serviceAccount(t.Node)
	account := s.Facts.Find(resource.ID{Kind: "ServiceAccount", Namespace: ns.name, Name: name})
	if account == nil {
		s.notes.set("sidecarset/service-account", contents[adding].Set, "spec.imagePullSecrets",
			"templates that list pull secrets no longer get those of ServiceAccount "+ns.name+"/"+name+", which is not known here")
		return nil
	}
	return tree.Items(tree.Get(account.Node(), "imagePullSecrets"))
}

func serviceAccount(pod *tree.Node) string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := tree.StrAt(pod, "spec", field); name != "" {
			return name
		}
	}
	return "default"
}
