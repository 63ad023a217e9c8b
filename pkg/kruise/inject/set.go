package inject

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

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
	// chosen is the stored revision that injectionStrategy names; missing is why it does not
	// exist.
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
	// Whether the selector names the namespace itself, which puts the set before the cluster-wide ones.
	s.pinned = s.namespaces != nil && s.namespaces.pinned
	if s.current, err = compileContent(s.Name, "", spec); err != nil {
		return nil, prefixPath(hub, "spec", err)
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
		s.missing = fmt.Errorf("no revision of SidecarSet %s with customVersion %s is known", s.Name, version)
		if name != "" {
			s.missing = fmt.Errorf("the revision %s of SidecarSet %s is not known", name, s.Name)
		}
		return nil
	}
	var err error
	if s.chosen, err = compileContent(s.Name, r.Name, r.spec); err != nil {
		return prefixPath(hub, "spec.injectionStrategy.revision", errors.New("revision "+r.Name+": "+err.Error()))
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
			return st, prefixPath(hub, "spec.updateStrategy.selector", err)
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

// Revision is a stored revision of a SidecarSet.
type Revision struct {
	// Set is the SidecarSet's name, CustomVersion its custom version then.
	Name, Set, CustomVersion string
	// Number grows with every revision.
	Number int64

	spec *tree.Node
}

// ReadRevision reads a ControllerRevision; nil when it is not one of a
// SidecarSet.
func ReadRevision(n *tree.Node) *Revision {
	set := tree.StrAt(n, "metadata", "labels", kruise.SidecarSetNameLabel)
	spec := tree.Get(n, "data", "spec")
	if set == "" || spec == nil {
		return nil
	}
	number, _ := tree.Int(tree.Get(n, "revision"))
	return &Revision{
		Name: tree.StrAt(n, "metadata", "name"), Set: set, Number: number, spec: spec,
		CustomVersion: tree.StrAt(n, "metadata", "labels", kruise.SidecarSetCustomVersionLabel),
	}
}

// findRevision prefers the name; a custom version means the newest revision
// that carries it.
func findRevision(list []*Revision, set, name, version string) *Revision {
	var found *Revision
	for _, r := range list {
		switch {
		case name != "":
			if r.Name == name {
				return r
			}
		case r.Set == set && r.CustomVersion == version && (found == nil || r.Number > found.Number):
			found = r
		}
	}
	return found
}

// HasRevision reports whether the revision that injectionStrategy.revision of
// set names is in list; name wins over version.
func HasRevision(list []*Revision, set, name, version string) bool {
	return findRevision(list, set, name, version) != nil
}

// HasRevisions reports whether list holds any revision of set.
func HasRevisions(list []*Revision, set string) bool {
	return slices.ContainsFunc(list, func(r *Revision) bool { return r.Set == set })
}

func compileSelector(n *tree.Node) (labels.Selector, error) {
	s := &metav1.LabelSelector{}
	if _, err := tree.Decode(n, s); err != nil {
		return nil, err
	}
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, tree.Errorf(n, "", "", "%v", err)
	}
	return sel, nil
}

// podSelector reads spec.selector; nil or empty matches nothing.
func podSelector(spec *tree.Node) (labels.Selector, error) {
	n := tree.Get(spec, "selector")
	if n == nil {
		return labels.Nothing(), nil
	}
	sel, err := compileSelector(n)
	if err != nil {
		return nil, inSpec(prefixPath(spec, "selector", err))
	}
	if sel.Empty() {
		return labels.Nothing(), nil
	}
	return sel, nil
}

// namespaceSelector is spec.namespaceSelector, with the part that the name of
// the namespace alone decides.
type namespaceSelector struct {
	all  labels.Selector
	name labels.Selector
	// nameOnly: name is the whole selector.
	nameOnly bool
	pinned   bool
}

func compileNamespaces(spec *tree.Node) (*namespaceSelector, error) {
	n := tree.Get(spec, "namespaceSelector")
	if n == nil {
		return nil, nil //nolint:nilnil // no selector: every namespace
	}
	sel, err := compileSelector(n)
	if err != nil {
		return nil, inSpec(prefixPath(spec, "namespaceSelector", err))
	}
	out := &namespaceSelector{all: sel, name: labels.NewSelector(), nameOnly: true}
	requirements, _ := sel.Requirements()
	for _, r := range requirements {
		if r.Key() != kruise.NamespaceNameLabel {
			out.nameOnly = false
			continue
		}
		out.name = out.name.Add(r)
		out.pinned = out.pinned || r.Operator() == selection.Equals || r.Operator() == selection.In
	}
	return out, nil
}

// match evaluates the selector; undecided is true when only the labels of the
// unknown Namespace object could decide.
func (n *namespaceSelector) match(t *Target) (matched, undecided bool) {
	switch {
	case n == nil:
		return true, false
	case t.NamespaceKnown || n.nameOnly:
		return n.all.Matches(labels.Set(t.NamespaceLabels)), false
	case !n.name.Matches(labels.Set(t.NamespaceLabels)):
		return false, false
	}
	return false, true
}
