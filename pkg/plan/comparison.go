package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
)

// comparison is a workload as it is and as it is desired, with what changes and what that
// does to the pods.
type comparison struct {
	desired *cluster.Workload
	// present is the object that desired replaces: the carrier or the workload.
	present *cluster.Workload
	// presentKind is the kind of present, kept since every pod asks for it.
	presentKind kind
	snap        Snapshot
	policy      Policy
	plan        Plan
	// templateChanged is whether the template changes, specChanged whether anything else
	// of the spec does, except the partition; strategyChanged excepts replicas, too.
	templateChanged, specChanged, strategyChanged bool
	modes                                         modes
}

// presentBuilder compares the workload in the cluster with itself: the result is what its
// controller does by the current spec. It is false if there is no workload.
func presentBuilder(s Snapshot) (b *builder, ok bool) {
	w := s.Object()
	if w == nil || w.Object == nil {
		return nil, false
	}
	b = newBuilder(w, w, s, Policy{})
	b.plan.Driver = kindOf(w.Object).drivers()[0]
	b.compareTemplates()
	return b, true
}

// compare finds out what changes, and for which pods. It refuses a change that no steps
// can make.
func (b *builder) compare() error {
	b.compareTemplates()
	b.resumeDeployment()
	b.subject = b.readSubject()
	b.plan.Limits = b.subject.limits
	b.compareOld()
	b.assumeHookAnswers()
	if err := b.checkClientBudget(); err != nil {
		return err
	}
	return b.compareSpecs()
}

// compareTemplates fills in what changes and why.
func (b *comparison) compareTemplates() {
	p := &b.plan
	p.Target = targetOf(b.snap.Workload)
	if b.snap.Carrier != nil {
		carrier := targetOf(b.snap.Carrier)
		p.Target.Carrier = &carrier
	}
	before, after := *b.present, *b.desired
	if before.Kind == kruise.KindReplicaSet {
		before.Template, after.Template = templateOf(b.present), templateOf(b.desired)
	}
	e := rules.Change(&before, &after, b.updatePolicy(), b.snap.Gates)
	c := &p.Change
	c.FromHash, c.ToHash = hashOf(b.present), hashOf(b.desired)
	c.Mode, c.Fields, c.Why, c.Restarts = e.Mode, e.Fields, e.Why, b.withoutHotUpgrades(e.Restarts)
	b.templateChanged = c.FromHash != c.ToHash
	c.FromRevision = revisionNamed(b.snap.Revisions, templateOf(b.present))
	c.ToRevision = revisionNamed(b.snap.Revisions, templateOf(b.desired))
	p.Warnings = append(p.Warnings, rules.Warnings(b.present, b.desired, e)...)
	b.modes = newModes(b, e)
}

func (b *comparison) warning(format string, args ...any) {
	b.plan.Warnings = append(b.plan.Warnings, fmt.Sprintf(format, args...))
}

// resumeDeployment resumes a paused Deployment whose pods change: pausing is how
// its rollouts stop between steps, and an aborted rollout leaves it paused.
func (b *builder) resumeDeployment() {
	o, ok := b.desired.Object.(*appsv1.Deployment)
	if !ok || !rules.PausedOf(b.present.Object) || !b.templateChanged && b.updatedPods() >= min(replicas(b.present), rules.LimitsOfDeployment(&o.Spec).Replicas) {
		return
	}
	b.warning("%s is paused: this rollout resumes it", title(b.present.Ref))
	b.desired = withPaused(b.desired, false)
	if len(b.policy.Steps) == 0 {
		b.policy.Steps = []PolicyStep{{To: All}}
	}
}

// readSubject reads the workload whose rules count.
func (b *comparison) readSubject() (s subject) {
	if b.plan.Driver != DriverClient {
		s = kindOf(b.desired.Object).subject(b)
	} else { // order and limits are those of the Kruise object that the native one was rendered from
		b.plan.Drain, b.plan.Grace = b.drain(), b.grace()
		if spec := clientSpecOf(b.snap, b.desired); spec != nil {
			s = spec.subject(b)
		}
	}
	s.updated = min(s.updated, s.total) // pods that leave with a smaller number, or with a surge, are not of the plan
	return s
}

// countPods fills in how many pods of a subject are up to date, and how many the change creates;
// stay is how many of the present ones are there afterwards. Pods that are missing at present are
// not the change's.
func (b *comparison) countPods(s *subject, stay, updated int) {
	missing := max(replicas(b.present)-b.activePods(), 0)
	s.created = max(s.total-max(stay, 0)-missing, 0)
	s.updated = min(updated, s.total)
	if !b.templateChanged || b.plan.Driver == DriverClient {
		s.updated = min(s.updated+s.created, s.total)
	}
}

// countOrdinals is [comparison.countPods] of a StatefulSet with these ordinals, and returns
// their pods, the highest ordinal first, nil for one that is missing.
func (b *comparison) countOrdinals(s *subject, ordinals []int) []*cluster.Pod {
	slots := make([]*cluster.Pod, len(ordinals))
	stay, updated := 0, 0
	for _, p := range b.snap.Pods {
		i, ok := slices.BinarySearch(ordinals, rules.OrdinalOf(p))
		if ok {
			slots[len(ordinals)-1-i] = p
		}
		switch {
		case !rules.Active(p):
		case !ok:
			s.leaving = append(s.leaving, p)
		default:
			stay++
			if b.isUpdated(p) {
				updated++
			}
		}
	}
	b.countPods(s, stay, updated)
	return slots
}

// activePods counts the pods that there are.
func (b *comparison) activePods() int {
	n := 0
	for _, p := range b.snap.Pods {
		if rules.Active(p) {
			n++
		}
	}
	return n
}

// assumeHookAnswers has the plan assume that lifecycle hooks are answered, where the workload has any
// that its driver keeps.
func (b *builder) assumeHookAnswers() {
	l := b.lifecycle()
	if l == nil || l.PreDelete == nil && l.InPlaceUpdate == nil && l.PreNormal == nil {
		return
	}
	b.plan.HookAnswer = b.policy.HookAnswer
	if b.plan.HookAnswer == 0 {
		b.plan.HookAnswer = DefaultHookAnswer
	}
}

// checkClientBudget refuses a client that may take no pod down and cannot surge.
func (b *builder) checkClientBudget() error {
	if b.plan.Driver != DriverClient || b.subject.limits.MaxUnavailable > 0 || b.subject.total == 0 {
		return nil
	}
	return &tree.Error{
		Path: "spec.updateStrategy.rollingUpdate.maxUnavailable",
		Msg:  "maxUnavailable comes to 0 pods, and there is no surge without Kruise: no pod could ever be updated",
		Hint: "let at least one pod be unavailable",
	}
}

// updatePolicy is how pods are updated: by the client as in the Kruise object that a native one
// was rendered from. A client that updates pods of a native workload does so in place where that
// is possible: that is what the client is for.
func (b *comparison) updatePolicy() rules.UpdatePolicy {
	if b.plan.Driver == DriverNative {
		return rules.PolicyOf(b.desired.Object)
	}
	strategy := b.desired
	if b.snap.Carrier != nil {
		strategy = b.snap.Workload
	}
	if b.plan.Driver == DriverClient && strategy.Group != kruise.Group {
		return rules.PolicyInPlaceIfPossible
	}
	return rules.PolicyOf(strategy.Object)
}

// withoutHotUpgrades leaves out the sidecars that a SidecarSet upgrades hot: the one that works is
// not restarted (docs/kruise/sidecarset.md#hot-upgrade).
func (b *comparison) withoutHotUpgrades(names []string) []string {
	o, ok := b.desired.Object.(*kruise.SidecarSet)
	if !ok {
		return names
	}
	var out []string
	for _, name := range names {
		hot := slices.ContainsFunc(o.Spec.Containers, func(c kruise.SidecarContainer) bool {
			return c.Name == name && c.UpgradeStrategy.UpgradeType == kruise.SidecarContainerHotUpgrade
		})
		if !hot {
			out = append(out, name)
			continue
		}
		b.warning(hotUpgradeWarning, name)
	}
	return out
}

// hashOf is the hash of the template of a workload.
func hashOf(w *cluster.Workload) string { return TemplateHash(templateOf(w)) }

// templateOf is what the object's revisions are made of: of a SidecarSet only what
// comes into pods, so that a change of the partition is not a change of the template.
func templateOf(w *cluster.Workload) map[string]any {
	return kindOf(w.Object).revised(w.Template)
}

// TemplateHash identifies a template: templates that make the same revision have the
// same hash, others have another. Like [rules.SameTemplate] it ignores nulls
// and metadata.creationTimestamp, and how numbers were decoded. It
// has nothing to do with the names of revisions.
func TemplateHash(template map[string]any) string {
	text := make([]byte, 0, 4096)
	all := map[string]any{}
	maps.Copy(all, template)
	all["metadata"] = rules.TemplateMetadata(template)
	text = canonical(text, all)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// canonical appends decoded JSON with sorted keys and without nulls.
func canonical(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		to = append(to, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				continue
			}
			to = append(strconv.AppendQuote(to, key), ':')
			to = append(canonical(to, v[key]), ',')
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for _, item := range v {
			to = append(canonical(to, item), ',')
		}
		return append(to, ']')
	case string:
		return strconv.AppendQuote(to, v)
	case bool:
		return strconv.AppendBool(to, v)
	case float64:
		return strconv.AppendFloat(to, v, 'g', -1, 64)
	case int64:
		return strconv.AppendFloat(to, float64(v), 'g', -1, 64)
	case int:
		return strconv.AppendFloat(to, float64(v), 'g', -1, 64)
	}
	return append(to, "null"...)
}

// modes returns for each pod what the change does to it. Pods of an older revision than the
// current one change from that one: the change is compared once per revision.
type modes struct {
	byRevision map[string]rules.Eligibility
	// overall is the answer where pods are not distinguished by revision.
	overall   rules.Eligibility
	needsGate bool
	// replicaSet is the comparison of a ReplicaSet whose pods the client updates, where the template of
	// a pod may be unknown; nil for all others.
	replicaSet *comparison
	// gateless counts pods that are recreated for lack of a readiness gate.
	gateless int
}

func newModes(b *comparison, whole rules.Eligibility) modes {
	m := modes{byRevision: map[string]rules.Eligibility{}, overall: whole}
	_, m.needsGate = b.present.Object.(*kruise.DaemonSet)
	if b.plan.Driver == DriverClient && b.present.Kind == kruise.KindReplicaSet {
		m.replicaSet = b
	}
	if _, sidecars := b.present.Object.(*kruise.SidecarSet); sidecars || len(b.snap.Revisions) == 0 {
		return m
	}
	before := *b.present
	for _, r := range b.snap.Revisions {
		before.Template = r.Template
		m.byRevision[cluster.Hash(r.Name)] = rules.Change(&before, b.desired, whole.Policy, b.snap.Gates)
	}
	return m
}

// of returns mode and reason for one pod, and counts those without a readiness gate.
func (m *modes) of(p *cluster.Pod) (rules.UpdateMode, string) {
	e, known := m.overall, true
	if m.hasUnknownTemplate(p) {
		return rules.ModeRecreate, "the template that the pod was created from is not known"
	}
	if len(m.byRevision) > 0 {
		if e, known = m.byRevision[cluster.Hash(rules.RevisionOf(p))]; !known {
			e = m.overall
		}
	}
	mode, why := e.ForPod(p, known, m.needsGate)
	if mode != e.Mode && known {
		m.gateless++
	}
	return mode, why
}

// hasUnknownTemplate reports a pod of a ReplicaSet that names a template which is neither the one
// before this rollout, nor the one after, nor the recorded one; or none, where another program has written the
// present template.
func (m *modes) hasUnknownTemplate(p *cluster.Pod) bool {
	b := m.replicaSet
	if b == nil {
		return false
	}
	mark, c := rules.RevisionOf(p), b.plan.Change
	return mark == "" && b.unmarked() || mark != "" && mark != c.ToHash && (mark != c.FromHash || c.FromHash == c.ToHash) && !isBaseTemplate(b.snap, mark)
}

// compareOld describes what happens to old pods where the template is written already, and
// the partition or the pause that kept them is lifted: they do not have the present template but an older
// one, that of most of them.
func (b *staging) compareOld() {
	if b.templateChanged || b.present.Kind == kruise.KindSidecarSet || len(b.stages()) == 0 {
		return
	}
	old, ok := b.oldRevision()
	if !ok || TemplateHash(old.Template) == b.plan.Change.ToHash {
		return
	}
	before, after := *b.present, *b.desired
	before.Template = old.Template
	if b.present.Kind == kruise.KindReplicaSet {
		after.Template = templateOf(b.desired)
	}
	e := rules.Change(&before, &after, b.updatePolicy(), b.snap.Gates)
	c := &b.plan.Change
	c.Mode, c.Fields, c.Why, c.Restarts = e.Mode, e.Fields, e.Why, b.withoutHotUpgrades(e.Restarts)
	c.FromRevision, b.modes = old.Name, newModes(&b.comparison, e)
}

// oldRevision is the revision of most of the pods that do not have the present template. Of
// a ReplicaSet, which has none, it is the template before the last rollout.
func (b *comparison) oldRevision() (old cluster.Revision, ok bool) {
	count := map[string]int{}
	for _, p := range b.snap.Pods {
		if rules.Active(p) && !b.isUpdated(p) {
			count[cluster.Hash(rules.RevisionOf(p))]++
		}
	}
	for _, r := range b.snap.Revisions {
		if n := count[cluster.Hash(r.Name)]; n > count[cluster.Hash(old.Name)] {
			old, ok = r, true
		}
	}
	if !ok && len(count) > 0 && b.snap.Base != nil && b.present.Kind == kruise.KindReplicaSet {
		return cluster.Revision{Template: b.snap.Base}, true
	}
	return old, ok
}

// isUpdated reports whether a pod is up to date. Pods of a Deployment are compared
// by the hash of their ReplicaSet.
func (b *comparison) isUpdated(p *cluster.Pod) bool {
	if b.presentKind == nil {
		b.presentKind = kindOf(b.present.Object)
	}
	return b.presentKind.isUpdated(b, p)
}

// isOutdated reports whether a pod is not up to date yet.
func (b *comparison) isOutdated(p *cluster.Pod) bool {
	return !p.Deleting && !b.isUpdated(p)
}

// updatedPods counts pods that are up to date.
func (b *comparison) updatedPods() int {
	n := 0
	for _, p := range b.snap.Pods {
		if rules.Active(p) && b.isUpdated(p) {
			n++
		}
	}
	return n
}

// updateRevision is the revision that pods are updated to.
func (b *comparison) updateRevision() string {
	if b.present.Kind == kruise.KindReplicaSet {
		return b.plan.Change.ToHash
	}
	if r := b.plan.Change.ToRevision; r != "" {
		return r
	}
	return unstoredRevision
}

// unstoredRevision is a revision that no pod has: that of a template that is not stored yet.
const unstoredRevision = "(not stored)"

// revisionNamed is the stored revision of a template, empty while there is none.
func revisionNamed(list []cluster.Revision, template map[string]any) string {
	r, _ := rules.FindRevision(list, template)
	return r.Name
}

// RevisionOfHash is the name of the stored revision whose template has a [TemplateHash]; empty while there is none.
func RevisionOfHash(list []cluster.Revision, hash string) string {
	for _, r := range list {
		if TemplateHash(r.Template) == hash {
			return r.Name
		}
	}
	return ""
}

// sourceObject is the Kruise object that the native one was rendered from; nil for none.
func (b *comparison) sourceObject() any { return sourceObject(b.snap) }

// clientSpecOf is the Kruise spec whose rules the client keeps: that of the object which the
// native one was rendered from, else the equivalent of the native one. It has the numbers of the
// native object, and neither partition, pause nor surge: steps take the place of the first two,
// and the client cannot surge.
func clientSpecOf(s Snapshot, native *cluster.Workload) kruiseSpec {
	return kindOf(native.Object).clientSpec(sourceObject(s))
}

// sourceObject is the Kruise object that the native one was rendered from; nil for none.
func sourceObject(s Snapshot) any {
	if s.Carrier == nil || s.Workload == nil {
		return nil
	}
	return s.Workload.Object
}

// lifecycle are the hooks of the desired workload; nil where its driver keeps none.
func (b *comparison) lifecycle() *kruise.Lifecycle {
	if b.plan.Driver == DriverNative {
		return nil
	}
	if b.snap.Carrier != nil {
		return cluster.Of(b.sourceObject()).Lifecycle()
	}
	return cluster.Of(b.desired.Object).Lifecycle()
}

// drain chooses how pods leave their Services.
func (b *comparison) drain() Drain {
	if b.policy.Drain != DrainAuto {
		return b.policy.Drain
	}
	if _, ok := templateLabels(b.desired)[kruise.InServiceLabel]; ok {
		return DrainLabel
	}
	return DrainNone
}

func templateLabels(w *cluster.Workload) map[string]any {
	meta, _ := w.Template["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	return labels
}

// grace is how long a pod is out of service before its containers change.
func (b *comparison) grace() Duration {
	if b.policy.Grace > 0 {
		return b.policy.Grace
	}
	spec := clientSpecOf(b.snap, b.desired)
	if spec == nil || spec.inPlace() == nil {
		return 0
	}
	return seconds(spec.inPlace().GracePeriodSeconds)
}
