package lower

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// statefulSetFields are reported wherever they say something.
var statefulSetFields = []outcome{
	{"spec.replicas", "statefulset/replicas", "statefulset/replicas"},
	{"spec.selector", "statefulset/selector", "statefulset/selector"},
	{"spec.template", "statefulset/template", "statefulset/template"},
	{"spec.serviceName", "statefulset/service-name", "statefulset/service-name"},
	{"spec.podManagementPolicy", "statefulset/pod-management", "statefulset/pod-management"},
	{"spec.revisionHistoryLimit", "statefulset/revision-history", "statefulset/revision-history"},
	{"spec.volumeClaimTemplates", "statefulset/volume-claims", "statefulset/volume-claims"},
	{"spec.persistentVolumeClaimRetentionPolicy", "statefulset/claim-retention", "statefulset/claim-retention"},
	{"spec.lifecycle", "statefulset/lifecycle", "statefulset/lifecycle-client"},
	{"spec.scaleStrategy.maxUnavailable", "statefulset/scale-max-unavailable", "statefulset/scale-max-unavailable"},
	{"spec.ordinals", "statefulset/ordinals", "statefulset/ordinals"},
}

// statefulSetRolling are reported unless the type is OnDelete.
var statefulSetRollingFields = []outcome{
	{rollingUpdate + "unorderedUpdate", "statefulset/unordered", "statefulset/unordered-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.gracePeriodSeconds", "statefulset/grace-period", "statefulset/grace-period-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadParallelism", "statefulset/image-predownload", "statefulset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadTimeoutSeconds", "statefulset/image-predownload", "statefulset/image-predownload-client"},
	{rollingUpdate + "inPlaceUpdateStrategy.imagePreDownloadMinUpdatedReadyPods", "statefulset/image-predownload", "statefulset/image-predownload-client"},
	{rollingUpdate + "minReadySeconds", "statefulset/min-ready-seconds", "statefulset/min-ready-seconds"},
	{rollingUpdate + "partition", "statefulset/partition", "statefulset/partition-client"},
	{rollingUpdate + "paused", "statefulset/paused", "statefulset/paused-client"},
}

func (s *statefulSet) reportFields() {
	s.reportWritten(statefulSetFields, s.client)
	if s.spec.VolumeClaimUpdateStrategy.Type == kruise.OnPodRollingUpdateVolumeClaimUpdateStrategyType {
		s.report("statefulset/claim-update", "spec.volumeClaimUpdateStrategy", "")
	}
	s.reportReserved()
	if s.spec.UpdateStrategy.Type != "" {
		s.report("statefulset/type", "spec.updateStrategy.type", "")
	}
	if s.onDelete() {
		return
	}
	s.reportWritten(statefulSetRollingFields, s.client)
	s.reportPolicy(s.rolling().PodUpdatePolicy)
	s.reportUnavailable()
}

func (s *statefulSet) reportPolicy(policy kruise.PodUpdateStrategyType) {
	rule := "in-place"
	switch {
	case policy == "":
		return
	case policy == kruise.RecreatePodUpdateStrategyType:
		rule = "recreate"
	case s.client:
		rule = "in-place-client"
	case policy == kruise.InPlaceOnlyPodUpdateStrategyType:
		rule = "in-place-only"
	}
	s.report(s.id(rule), rollingUpdate+"podUpdatePolicy", "")
}

func (s *statefulSet) reportUnavailable() {
	u := s.rolling().MaxUnavailable
	switch {
	case u == nil:
	case s.client:
		s.report("statefulset/max-unavailable-client", rollingUpdate+"maxUnavailable", "")
	case u.String() == "1" || s.c.Since(maxUnavailableServed):
		s.report("statefulset/max-unavailable", rollingUpdate+"maxUnavailable", "")
	default:
		s.report("statefulset/max-unavailable-older", rollingUpdate+"maxUnavailable",
			fmt.Sprintf("left out: on by default only from Kubernetes 1.%d; pods are updated one at a time, where Kruise takes %s", maxUnavailableServed, u))
	}
}

// start is where the source's ordinals begin, before any is reserved.
func (s *statefulSet) start() int {
	if s.spec.Ordinals == nil {
		return 0
	}
	return int(s.spec.Ordinals.Start)
}

// first is the lowest ordinal of the StatefulSet: the source's, as long as what
// is reserved leaves no hole.
func (s *statefulSet) first() int {
	if first, ok := s.unbroken(); ok {
		return first
	}
	return s.start()
}

// unbroken returns the lowest of the source's ordinals, and whether they follow
// one another without a hole: a StatefulSet can have no other.
func (s *statefulSet) unbroken() (first int, ok bool) {
	// One more than there are, so that a hole behind the last is one, too.
	list := rules.Ordinals(s.start(), min(s.replicas(), mostOrdinals)+1, s.spec.ReserveOrdinals)
	last := len(list) - 1
	return list[0], list[last]-list[0] == last
}

// mostOrdinals bounds the work for absurd numbers of replicas; reserved ordinals
// beyond it are not looked for.
const mostOrdinals = 100_000

func (s *statefulSet) reportReserved() {
	if len(s.spec.ReserveOrdinals) == 0 {
		return
	}
	const field = "spec.reserveOrdinals"
	first, ok := s.unbroken()
	if ok {
		s.report("statefulset/reserve-ordinals", field, fmt.Sprintf("ordinals start at %d instead", first))
		return
	}
	have := rules.Ordinals(s.start(), min(s.replicas(), shownOrdinals), s.spec.ReserveOrdinals)
	text := make([]string, len(have))
	for i, n := range have {
		text[i] = strconv.Itoa(n)
	}
	s.report("statefulset/reserve-ordinals-holes", field,
		fmt.Sprintf("the pods are numbered from %d without a hole, where Kruise has %s", s.start(), strings.Join(text, ", ")))
}

// shownOrdinals is how many ordinals a finding lists.
const shownOrdinals = 12
