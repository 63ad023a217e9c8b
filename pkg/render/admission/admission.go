// Package admission is the stage that turns SidecarSets into policies: a MutatingAdmissionPolicy
// with its binding does at the creation of pods what Kruise's webhook would do
// (docs/kruise/sidecarset.md#which-pods-match and docs/kruise/sidecarset.md#injection), so that
// pods from elsewhere get their sidecars too. pkg/kruise/inject decides what is injected, as for
// templates; this package only expresses it in CEL. A set that CEL cannot express stays in the
// stream, for injection into the templates there. [Protect] is a stage of its own.
package admission

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

const kind = kruise.KindSidecarSet

// Run is the stage. It does nothing unless SidecarSets are to be expanded as
// policies. Sets of the context that could be policies count as such: they were
// made where the set is an input. All of them are in c.Admitted.
func Run(c *stage.Context, in []*resource.Resource) ([]*resource.Resource, error) {
	if c.SidecarSetAs != stage.Admission || !c.Expand(kind) {
		return in, nil
	}
	sets, err := collect(c, in)
	if err != nil || len(sets) == 0 {
		return in, err
	}
	version := policy.APIVersion(c)
	if version == "" {
		return nil, unserved(c, sets)
	}
	markImpossible(c, sets)
	c.Admitted = map[string]*resource.Resource{}
	made := map[*resource.Resource]*set{}
	for _, s := range sets {
		if s.why == "" {
			c.Admitted[s.Name] = resource.Derived(present(s.hub), s.from)
			made[s.from] = s
		}
	}
	return c.Replace(in, func(r *resource.Resource) ([]*resource.Resource, error) {
		s := made[r]
		if s == nil {
			return []*resource.Resource{r}, nil
		}
		return replaced(c, s, sets, version)
	})
}

// replaced returns what a set becomes.
func replaced(c *stage.Context, s *set, sets []*set, version string) ([]*resource.Resource, error) {
	p, err := s.policy(c, sets)
	if err != nil {
		return nil, s.from.Wrap(tree.Errorf(s.hub, "", "", "every pod would be refused: %v", err), "spec")
	}
	var out []*resource.Resource
	for _, n := range p.Objects(version) {
		out = append(out, resource.Derived(n, s.from))
	}
	c.Lineage.Became(s.from.ID(), out...)
	s.report(c)
	return out, nil
}

func unserved(c *stage.Context, sets []*set) error {
	hint, how := "render for 1.36 or newer, or leave out --sidecarset-as admission", ""
	if !c.PreviewAPIs && c.Since(policy.Previewed) {
		hint, how = "--allow-preview-apis, if the API is switched on there; else "+hint, " by default"
	}
	var errs resource.Errors
	for _, s := range sets {
		if s.here {
			errs.Add(s.from.Fault("", hint, "Kubernetes 1.%d serves no MutatingAdmissionPolicy%s", c.Kubernetes, how))
		}
	}
	return errs.Err()
}

// source is the label by which the policy is found again.
func (s *set) source() string {
	if v := s.from.Label(kruise.SourceLabel); v != "" {
		return v
	}
	return kruise.SourceValue(kind, s.Name)
}

// written are the rules that apply wherever the field is given.
var written = []struct{ field, id string }{
	{"spec.containers", "sidecarset/admission-content"},
	{"spec.initContainers", "sidecarset/admission-content"},
	{"spec.volumes", "sidecarset/admission-content"},
	{"spec.imagePullSecrets", "sidecarset/admission-content"},
	{"spec.patchPodMetadata", "sidecarset/admission-metadata"},
	{"spec.injectionStrategy.paused", "sidecarset/admission-paused"},
	{"spec.injectionStrategy.revision", "sidecarset/admission-revision"},
	{"spec.customVersion", "sidecarset/custom-version"},
	{"spec.revisionHistoryLimit", "sidecarset/history"},
	{"spec.updateStrategy.paused", "sidecarset/admission-rollout"},
	{"spec.updateStrategy.partition", "sidecarset/admission-rollout"},
	{"spec.updateStrategy.maxUnavailable", "sidecarset/admission-rollout"},
	{"spec.updateStrategy.selector", "sidecarset/admission-rollout"},
	{"spec.updateStrategy.priorityStrategy", "sidecarset/admission-rollout"},
	{"spec.updateStrategy.scatterStrategy", "sidecarset/admission-rollout"},
}

// report reports what becomes of the fields of a set that has become a policy.
func (s *set) report(c *stage.Context) {
	add := func(id, field, detail string) { c.Findings.Add(id, s.from, field, detail) }
	add("sidecarset/admission", "spec.selector", "")
	if tree.StrAt(s.hub, "spec", "updateStrategy", "type") == string(kruise.NotUpdateSidecarSetStrategyType) {
		add("sidecarset/admission-not-update", "spec.updateStrategy.type", "")
	} else {
		add("sidecarset/admission-update", "spec.updateStrategy.type", "")
	}
	if !c.Since(policy.Served) {
		add("sidecarset/admission-preview", "", "")
	}
	for _, w := range written {
		if stage.Written(s.hub, w.field) {
			add(w.id, w.field, "")
		}
	}
	s.reportContainers(add)
}

// starters are the env by which Kruise orders the start and the end of containers.
var starters = []string{
	kruise.ContainerPriorityEnv, kruise.TerminateSidecarEnv, kruise.TerminateSidecarWithImageEnv,
}

func (s *set) reportContainers(add func(id, field, detail string)) {
	for _, list := range []struct {
		field  string
		pieces []inject.Piece
	}{{"spec.containers", s.containers}, {"spec.initContainers", s.inits}} {
		var hot, started []string
		for _, p := range list.pieces {
			if p.Name != p.Sidecar {
				hot = append(hot, p.Sidecar)
			}
			for _, env := range values(tree.Items(tree.Get(p.Node, "env")), "name") {
				if slices.Contains(starters, env) {
					started = append(started, env+" of sidecar "+p.Sidecar)
				}
			}
		}
		if hot = slices.Compact(hot); len(hot) > 0 {
			add("sidecarset/admission-hot-upgrade", list.field, "sidecar "+strings.Join(hot, ", ")+
				": the policy injects the pair of containers, but they are not swapped: a new image reaches new pods only")
		}
		if started = slices.Compact(started); len(started) > 0 {
			add("sidecarset/admission-startup", list.field, strings.Join(started, ", ")+
				": rendering acts on it in pod templates, a policy does not")
		}
	}
}
