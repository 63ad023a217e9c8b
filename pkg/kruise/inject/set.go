package inject

import (
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// Set is a SidecarSet made ready for matching and injection. It is safe for
// concurrent use.
type Set struct {
	Name string

	paused     bool
	base       string // of a canary
	pinned     bool
	namespaces *namespaceSelector // nil: all
	selector   labels.Selector

	current *Content
	// chosen is the stored revision that injectionStrategy names; missing says
	// why it is not there.
	chosen   *Content
	missing  error
	strategy strategy
}

// strategy decides between the current spec and the chosen revision.
type strategy struct {
	paused   bool            // updateStrategy.paused
	partial  bool            // policy Partial
	selector labels.Selector // updateStrategy.selector; nil when not set
	// percent of a percentage partition; -1 for an integer or none.
	percent int
	bad     error
}

// Compile reads a SidecarSet, given in its newest version (kruise.ToHub).
// revisions are the stored revisions known, of any set. Errors are
// *tree.Error, with paths relative to the SidecarSet.
func Compile(hub *tree.Node, revisions []*Revision) (*Set, error) {
	spec := tree.Get(hub, "spec")
	s := &Set{Name: tree.StrAt(hub, "metadata", "name")}
	if s.Name == "" || strings.Contains(s.Name, ",") {
		// Pods list the sets that were injected by name, with commas between.
		return nil, tree.Errorf(hub, "metadata.name", "", "a SidecarSet needs a name, without commas")
	}
	if tree.StrAt(hub, "metadata", "annotations", kruise.SidecarSetCanaryAnnotation) == "true" {
		s.base = tree.StrAt(hub, "metadata", "annotations", kruise.SidecarSetBaseAnnotation)
	}
	s.paused = tree.Bool(tree.Get(spec, "injectionStrategy", "paused"))
	var err error
	if s.selector, err = podSelector(spec); err != nil {
		return nil, err
	}
	if s.namespaces, err = compileNamespaces(spec); err != nil {
		return nil, err
	}
	s.pinned = s.namespaces.pins()
	if s.current, err = compileContent(s.Name, "", spec); err != nil {
		return nil, below(hub, "spec", err)
	}
	return s, s.compileRevision(hub, revisions)
}

// Current returns the content of the set's present spec.
func (s *Set) Current() *Content { return s.current }

func (s *Set) compileRevision(hub *tree.Node, revisions []*Revision) error {
	ref := tree.Get(hub, "spec", "injectionStrategy", "revision")
	name, version := tree.StrAt(ref, "revisionName"), tree.StrAt(ref, "customVersion")
	if name == "" && version == "" {
		return nil
	}
	r := findRevision(revisions, s.Name, name, version)
	if r == nil {
		s.missing = noRevision(s.Name, name, version)
		return nil
	}
	var err error
	if s.chosen, err = compileContent(s.Name, r.Name, r.spec); err != nil {
		return below(hub, "spec.injectionStrategy.revision", errors.New("revision "+r.Name+": "+err.Error()))
	}
	s.strategy, err = compileStrategy(hub)
	return err
}

func compileStrategy(hub *tree.Node) (strategy, error) {
	update := tree.Get(hub, "spec", "updateStrategy")
	st := strategy{
		paused:  tree.Bool(tree.Get(update, "paused")),
		partial: tree.StrAt(hub, "spec", "injectionStrategy", "revision", "policy") == "Partial",
		percent: -1,
	}
	if sel := tree.Get(update, "selector"); sel != nil {
		var err error
		if st.selector, err = compileSelector(sel); err != nil {
			return st, below(hub, "spec.updateStrategy.selector", err)
		}
	}
	if p := tree.Get(update, "partition"); tree.IsString(p) {
		digits, ok := strings.CutSuffix(p.Value, "%")
		v, err := strconv.Atoi(digits)
		if !ok || err != nil {
			st.bad = tree.Errorf(hub, "spec.updateStrategy.partition", "", "%q is not a percentage", p.Value)
		}
		st.percent = v
	}
	return st, nil
}

// Weight is the weight of the largest content that the set puts into a pod.
func (s *Set) Weight() tree.Weight {
	w := s.current.Weight()
	if s.chosen != nil && s.chosen.Weight().Bytes > w.Bytes {
		w = s.chosen.Weight()
	}
	return w
}
