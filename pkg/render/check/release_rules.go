package check

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// laterRule is about faults that releases before the one named do not find. Which release
// brought a rule is known as far as random objects were recorded: of 1.5, 1.8, 1.9 and the
// main branch. Between two of them the older one is followed: a rule that 1.8 has and 1.5
// has not is one since 1.6.
type laterRule struct {
	// kind is "" for all kinds.
	kind string
	// field is the path, as faults show it without brackets, of the field or of what it
	// lies in; one that starts with a dot is the end of it.
	field string
	first kruise.Release
	// when, if given, narrows it down to some objects.
	when func(s *subject) bool
}

var laterRules = []laterRule{
	{kind: kruise.KindEphemeralJob, field: ephemeralContainers, first: kruise.Minor(6)},
	{kind: kruise.KindEphemeralJob, field: "spec.selector", first: kruise.Minor(6), when: func(s *subject) bool { return tree.Get(s.r.Node(), "spec", "selector") != nil }},
	{kind: kruise.KindStatefulSet, field: "metadata.name", first: kruise.Minor(6), when: func(s *subject) bool { return len(validation.IsDNS1123Subdomain(s.r.Name())) == 0 }},
	{kind: kruise.KindStatefulSet, field: "spec.revisionHistoryLimit", first: kruise.Next},
	{kind: kruise.KindStatefulSet, field: "spec.volumeClaimUpdateStrategy.type", first: kruise.Minor(9)},
	{kind: kruise.KindImagePullJob, field: "spec.parallelism", first: kruise.Minor(6)},
	{kind: kruise.KindImagePullJob, field: "spec.completionPolicy.activeDeadlineSeconds", first: kruise.Minor(6)},
	{kind: kruise.KindImagePullJob, field: "spec.pullPolicy.timeoutSeconds", first: kruise.Minor(9)},
	{kind: kruise.KindImageListPullJob, field: "spec.parallelism", first: kruise.Next},
	{kind: kruise.KindImageListPullJob, field: "spec.pullPolicy.timeoutSeconds", first: kruise.Next},
	{kind: kruise.KindSidecarSet, field: "spec.namespaceSelector", first: kruise.Minor(9), when: func(s *subject) bool { return tree.Get(s.r.Node(), "spec", "namespace") != nil }},
	{kind: kruise.KindUnitedDeployment, field: "spec.updateStrategy.type", first: kruise.Next},
	{kind: kruise.KindUnitedDeployment, field: "spec.topology.subsets.replicas", first: kruise.Minor(9), when: adaptive},
	{kind: kruise.KindWorkloadSpread, field: "spec.subsets.patch", first: kruise.Minor(9)},
	{field: ".template.spec.terminationGracePeriodSeconds", first: kruise.Next},
}

func adaptive(s *subject) bool {
	return tree.StrAt(s.r.Node(), "spec", "topology", "scheduleStrategy", "type") == string(kruise.AdaptiveUnitedDeploymentScheduleStrategyType)
}

// about reports whether a fault is one that the rule finds.
func (l *laterRule) about(s *subject, f Fault) bool {
	if l.kind != "" && l.kind != s.Object.Kind() || l.when != nil && !l.when(s) {
		return false
	}
	plain := indices(f.Field)
	if l.field[0] == '.' {
		return strings.HasSuffix(plain, l.field)
	}
	return under(plain, l.field)
}

// notYet marks faults of rules that the release does not have.
func (s *subject) notYet(r kruise.Release) {
	for i, f := range s.faults {
		if f.Rule == unknownField || f.Rule == missingField || f.Rule == wrongType {
			continue
		}
		if slices.ContainsFunc(laterRules, func(l laterRule) bool { return r.Before(l.first) && l.about(s, f) }) {
			s.faults[i].Accepted = true
		}
	}
}

// noLonger are rules that only older releases have: a PodProbeMarker looked at commands
// alone.
func (s *subject) noLonger(r kruise.Release) {
	if s.Object.Kind() != kruise.KindPodProbeMarker || !r.Before(kruise.Minor(6)) {
		return
	}
	for i, p := range tree.Items(tree.Get(s.r.Node(), "spec", "probes")) {
		if tree.Get(p, "probe", "tcpSocket") != nil {
			path := "spec.probes[" + strconv.Itoa(i) + "].probe.tcpSocket"
			s.another(absentField, false, path, "use exec", "%s takes no such probe: since Kruise 1.6", r.Name())
		}
	}
}
