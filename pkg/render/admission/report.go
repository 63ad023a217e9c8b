package admission

import (
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/inject"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/admission/policy"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

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

// report says what becomes of the fields of a set that has become a policy.
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
