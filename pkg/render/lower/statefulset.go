package lower

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// statefulSet is one Advanced StatefulSet that becomes a StatefulSet.
type statefulSet struct {
	object
	spec   kruise.StatefulSetSpec
	client bool
}

// lowerStatefulSet returns what the Advanced StatefulSet r becomes. Names of pods
// and claims stay, so the StatefulSet can take over the claims.
func lowerStatefulSet(c *stage.Context, _ *relatedObjects, r *resource.Resource) ([]*resource.Resource, error) {
	var set kruise.StatefulSet
	o, err := newObject(c, r, "statefulset", &set)
	if err != nil {
		return nil, err
	}
	o.alwaysPull = true
	s := &statefulSet{object: o, spec: set.Spec, client: c.Driver == stage.Client}
	if !fitsStatefulSet(r.Name()) { // under another name its pods would not find their claims
		return nil, r.Fault("metadata.name", "pods and claims are called after it: move the data to one of another name, or keep this one with --target kruise",
			"a StatefulSet's name has no dots and at most %d characters", statefulSetNameLimit)
	}
	out := resource.Derived(s.native("apps/v1", kruise.KindStatefulSet, s.nativeSpec), r)
	s.reportFields()
	c.Lineage.Became(r.ID(), out)
	return []*resource.Resource{out}, nil
}

// nativeSpec returns the spec of the StatefulSet.
func (s *statefulSet) nativeSpec(spec *tree.Node) *tree.Node {
	out := stage.Fields(spec, func(name string, v *tree.Node) (string, *tree.Node) {
		switch name {
		case "template":
			return name, s.template(v)
		case "updateStrategy":
			return name, s.strategy()
		case "ordinals", "reserveOrdinals", "lifecycle", "scaleStrategy", "volumeClaimUpdateStrategy":
			return name, nil
		default:
			return name, v
		}
	})
	if !tree.Has(out, "updateStrategy") {
		tree.InsertAfter(out, "selector", "updateStrategy", s.strategy())
	}
	if seconds := s.rolling().MinReadySeconds; seconds != nil && *seconds > 0 {
		tree.InsertAfter(out, "selector", "minReadySeconds", tree.Int64(int64(*seconds)))
	}
	first, ok := s.contiguousOrdinals()
	if !ok { // reserved ordinals leave a gap
		first = s.startOrdinal()
	}
	if first > 0 {
		tree.InsertAfter(out, "selector", "ordinals", tree.Map("start", tree.Int64(int64(first))))
	}
	return out
}

// strategy returns the update strategy of the StatefulSet.
func (s *statefulSet) strategy() *tree.Node {
	if s.client || s.onDelete() || s.rolling().Paused {
		return tree.Map("type", "OnDelete")
	}
	rolling := tree.Map()
	if u := s.rolling().MaxUnavailable; u != nil && u.String() != "1" && s.c.Since(maxUnavailableServed) {
		tree.Set(rolling, "maxUnavailable", intOrStringNode(*u))
	}
	if p := s.partition(); p > 0 {
		tree.Set(rolling, "partition", tree.Int64(int64(p)))
	}
	return rollingStrategy(rolling)
}

// maxUnavailableServed is the version of Kubernetes in which a StatefulSet's
// maxUnavailable is on by default (docs/facts/kubernetes.md#features-by-version).
const maxUnavailableServed = 37

// partition is the lowest ordinal's distance from the first that is updated. Kruise's
// partition is a number of pods, and they are those with the lowest ordinals:
// the same number, unless it is more than all.
func (s *statefulSet) partition() int {
	if s.rolling().Partition == nil {
		return 0
	}
	return max(int(*s.rolling().Partition), 0)
}

func (s *statefulSet) onDelete() bool {
	return s.spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType
}

// rolling is the source's rollingUpdate, empty where it has none or ignores it.
func (s *statefulSet) rolling() kruise.RollingUpdateStatefulSetStrategy {
	if r := s.spec.UpdateStrategy.RollingUpdate; r != nil && !s.onDelete() {
		return *r
	}
	return kruise.RollingUpdateStatefulSetStrategy{}
}

func (s *statefulSet) replicas() int {
	if s.spec.Replicas == nil {
		return 1
	}
	return int(*s.spec.Replicas)
}

// statefulSetNameLimit is the longest name with which a StatefulSet's pods come
// into being: their label controller-revision-hash adds eleven characters.
const statefulSetNameLimit = 63 - 11

// fitsStatefulSet reports whether a StatefulSet can be called so. Dots cannot be in it, as
// pods' host names have none.
func fitsStatefulSet(name string) bool {
	return len(name) <= statefulSetNameLimit && !strings.Contains(name, ".")
}

// withValidName gives the StatefulSet that a CloneSet becomes a valid name. Nothing finds a
// CloneSet's pods by name, so the name may change.
func (l *cloneSetExpansion) withValidName(n *tree.Node) *tree.Node {
	name := l.r.Name()
	if !l.form.statefulSet() || fitsStatefulSet(name) {
		return n
	}
	now := strings.ReplaceAll(name, ".", "-")
	if !fitsStatefulSet(now) {
		now = stage.PieceName(name, "set", statefulSetNameLimit, true)
	}
	l.rename(n, now)
	l.report("cloneset/name", "metadata.name", "")
	return n
}

// statefulSetFields are reported when they have an effect.
var statefulSetFields = []fieldRule{
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

// statefulSetRollingFields are reported unless the type is OnDelete.
var statefulSetRollingFields = []fieldRule{
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
			fmt.Sprintf("left out: on by default only from Kubernetes 1.%d; pods are updated one at a time, whereas Kruise allows %s", maxUnavailableServed, u))
	}
}

// startOrdinal is where the source's ordinals begin, before any is reserved.
func (s *statefulSet) startOrdinal() int {
	if s.spec.Ordinals == nil {
		return 0
	}
	return int(s.spec.Ordinals.Start)
}

// contiguousOrdinals returns the lowest of the source's ordinals, and whether they have no gap: a
// StatefulSet cannot have one.
func (s *statefulSet) contiguousOrdinals() (first int, ok bool) {
	// One more than there are, so that a hole behind the last is one, too.
	list := rules.Ordinals(s.startOrdinal(), min(s.replicas(), maxOrdinals)+1, s.spec.ReserveOrdinals)
	last := len(list) - 1
	return list[0], list[last]-list[0] == last
}

// maxOrdinals bounds the work for absurd numbers of replicas; reserved ordinals
// beyond it are not looked for.
const maxOrdinals = 100_000

func (s *statefulSet) reportReserved() {
	if len(s.spec.ReserveOrdinals) == 0 {
		return
	}
	const field = "spec.reserveOrdinals"
	first, ok := s.contiguousOrdinals()
	if ok {
		s.report("statefulset/reserve-ordinals", field, fmt.Sprintf("ordinals start at %d instead", first))
		return
	}
	have := rules.Ordinals(s.startOrdinal(), min(s.replicas(), shownOrdinals), s.spec.ReserveOrdinals)
	text := make([]string, len(have))
	for i, n := range have {
		text[i] = strconv.Itoa(n)
	}
	s.report("statefulset/reserve-ordinals-holes", field,
		fmt.Sprintf("the pods are numbered from %d without a gap, whereas Kruise has %s", s.startOrdinal(), strings.Join(text, ", ")))
}

// shownOrdinals is how many ordinals a finding lists.
const shownOrdinals = 12
