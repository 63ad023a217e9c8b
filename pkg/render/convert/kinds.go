package convert

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/finding"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/references"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// Options choose what [ToKinds] does.
type Options struct {
	Targets
	// Names and Selector are of the objects that are converted; none means all that can be.
	Names    []string
	Selector labels.Selector
	// Raise are the choices that native kinds cannot express.
	Raise RaiseOptions
	// Forget keeps nothing for the way back.
	Forget bool
	// Kubernetes is the minor version of the API server that the output is for;
	// 0 means the newest that is known.
	Kubernetes int
	// Namespace is where objects without one live ("" = default).
	Namespace string
	// Context are objects that exist in the cluster: used, never emitted.
	Context []*resource.Resource
}

// Result is what became of the input.
type Result struct {
	Resources []*resource.Resource
	Findings  []finding.Finding
	// Converted is how many objects have another kind now.
	Converted int
}

// ToKinds makes the objects of one kind into those of its counterpart, and
// references to them follow. What the new kind cannot hold is kept in an
// annotation, so that converting back gives what was there. All other objects
// stay as they are, to the byte. The resources of in belong to ToKinds
// afterwards.
func ToKinds(ctx context.Context, in []*resource.Resource, opt Options) (*Result, error) {
	secrets := resource.SecretsOf(in, opt.Context)
	res, err := opt.toKinds(ctx, in)
	if err != nil {
		return nil, secrets.MaskedErrors(err)
	}
	finding.Mask(res.Findings, secrets)
	return res, nil
}

func (o Options) toKinds(ctx context.Context, in []*resource.Resource) (*Result, error) {
	c := o.context(ctx, in)
	out, pieces, err := o.convertObjects(c, in, o.directionOf)
	if err != nil {
		return nil, err
	}
	err = eachPiece(c, pieces, func(p piece) error {
		p.prune(c)
		return p.restored(c)
	})
	if err != nil {
		return nil, err
	}
	if out, err = references.Run(c, out); err != nil {
		return nil, err
	}
	if err := accepted(c, pieces); err != nil {
		return nil, err
	}
	if err := o.keep(c, out, pieces); err != nil {
		return nil, err
	}
	return &Result{Resources: out, Findings: c.Findings.Findings(), Converted: len(pieces)}, nil
}

func (o Options) context(ctx context.Context, in []*resource.Resource) *stage.Context {
	return stage.New(resource.NewFacts(in, o.Context, o.Namespace), stage.Options{Kubernetes: o.Kubernetes, Running: ctx})
}

// accepted finds what Kruise would refuse of what was made. Unknown fields
// are left to lint: they come from the input.
func accepted(c *stage.Context, pieces []piece) error {
	return c.Each(len(pieces), func(i int) error {
		var faults resource.Errors
		for _, f := range check.Object(c, check.Request{Object: pieces[i].become}) {
			if f.Rule != check.UnknownField && (!f.OfRelease || !f.Accepted) {
				faults.Add(f.Error)
			}
		}
		return faults.Err()
	})
}

// eachPiece calls f for one piece after the other, up to the first error.
func eachPiece(c *stage.Context, pieces []piece, f func(piece) error) error {
	for _, p := range pieces {
		if err := c.Stopped(); err != nil {
			return err
		}
		if err := f(p); err != nil {
			return err
		}
	}
	return nil
}

// kind is a kind with its group and the words that name it on a command line,
// the proper name first.
type kind struct {
	group, kind string
	words       []string
	// object is an empty one of the kind's type; below template is what is
	// the user's, known or not.
	object   any
	template string
}

func (k kind) is(r *resource.Resource) bool { return r.Is(k.group, k.kind) }

// isNamed reports whether a word means the kind: one of its words, or kind.group.
func (k kind) isNamed(word string) bool {
	word = strings.ToLower(word)
	singular, group, _ := strings.Cut(word, ".")
	if group != "" {
		return group == k.group && strings.TrimSuffix(singular, "s") == strings.ToLower(k.kind)
	}
	return slices.ContainsFunc(k.words, func(w string) bool {
		w = strings.ToLower(w)
		return word == w || word == w+"s"
	})
}

// pair are two kinds that do the same, with and without Kruise.
type pair struct{ native, kruise kind }

var pairs = []pair{
	{
		kind{"apps", kruise.KindDeployment, []string{kruise.KindDeployment, "deploy"}, appsv1.Deployment{}, "spec.template"},
		kind{kruise.Group, kruise.KindCloneSet, []string{kruise.KindCloneSet, "clone"}, kruise.CloneSet{}, "spec.template"},
	},
	{
		kind{"apps", kruise.KindStatefulSet, []string{kruise.KindStatefulSet, "sts"}, appsv1.StatefulSet{}, "spec.template"},
		kind{kruise.Group, kruise.KindStatefulSet, []string{"AdvancedStatefulSet", "asts"}, kruise.StatefulSet{}, "spec.template"},
	},
	{
		kind{"apps", kruise.KindDaemonSet, []string{kruise.KindDaemonSet, "ds"}, appsv1.DaemonSet{}, "spec.template"},
		kind{kruise.Group, kruise.KindDaemonSet, []string{"AdvancedDaemonSet", "ads"}, kruise.DaemonSet{}, "spec.template"},
	},
	{
		kind{"batch", "CronJob", []string{"CronJob", "cj"}, batchv1.CronJob{}, "spec.jobTemplate"},
		kind{kruise.Group, kruise.KindAdvancedCronJob, []string{kruise.KindAdvancedCronJob, "acj"}, kruise.AdvancedCronJob{}, "spec.template"},
	},
	{
		kind{"policy", "PodDisruptionBudget", []string{"PodDisruptionBudget", "pdb"}, policyv1.PodDisruptionBudget{}, "spec.template"},
		kind{kruise.PolicyGroup, kruise.KindPodUnavailableBudget, []string{kruise.KindPodUnavailableBudget, "pub"}, kruise.PodUnavailableBudget{}, "spec.template"},
	},
}

// The words for all kinds of one side.
const (
	toKruise = "kruise"
	toNative = "native"
)

// Words are what [ParseTargets] takes, the proper names alone.
func Words() []string {
	words := []string{toKruise, toNative}
	for _, p := range pairs {
		words = append(words, p.kruise.words[0], p.native.words[0])
	}
	return words
}

// direction is the way that one pair goes.
type direction struct{ from, to kind }

// Targets define which kinds become which.
type Targets struct{ ways []direction }

// ParseTargets reads the target kinds: words of [Words], their
// short names, KIND.GROUP, or kruise and native for all kinds of one side.
func ParseTargets(words []string) (Targets, error) {
	var t Targets
	for _, word := range words {
		known := false
		for _, p := range pairs {
			for _, way := range []direction{{p.native, p.kruise}, {p.kruise, p.native}} {
				if !way.isNamed(word) {
					continue
				}
				known = true
				if err := t.add(way); err != nil {
					return Targets{}, err
				}
			}
		}
		if !known {
			return Targets{}, fmt.Errorf("nothing can be converted to %q", word)
		}
	}
	return t, nil
}

func (d direction) isNamed(word string) bool {
	side := toNative
	if d.toKruise() {
		side = toKruise
	}
	return strings.EqualFold(word, side) || d.to.isNamed(word)
}

func (d direction) toKruise() bool {
	return d.to.group == kruise.Group || d.to.group == kruise.PolicyGroup
}

func (t *Targets) add(way direction) error {
	for _, have := range t.ways {
		if have.from.words[0] == way.to.words[0] {
			return fmt.Errorf("%s and %s exclude each other", have.to.words[0], way.to.words[0])
		}
	}
	t.ways = append(t.ways, way)
	return nil
}

// of returns the way that an object goes; ok is false where it stays.
func (t Targets) of(r *resource.Resource) (way direction, ok bool) {
	i := slices.IndexFunc(t.ways, func(d direction) bool { return d.from.is(r) })
	if i < 0 {
		return direction{}, false
	}
	return t.ways[i], true
}
