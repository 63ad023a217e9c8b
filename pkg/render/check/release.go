package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// The rules about releases of Kruise: what another release accepts, and this one does not.
const (
	notServed    = "object/version-not-served"
	absentField  = "object/field-of-another-release"
	droppedField = "object/field-dropped-by-release"
)

// asWritten returns a fault of the object as the release reads it with the path that the user
// wrote.
func (s *subject) asWritten(err *resource.Error) *resource.Error {
	if s.reading.CloneSet {
		err.Field = kruise.ReadPath(err.Field)
	}
	return err
}

// writtenPath returns the path, in the version that the user wrote, of a field of the newest
// version.
func (s *subject) writtenPath(path string) string {
	path = kruise.Written(s.r.Node(), path)
	if s.reading.CloneSet {
		path = kruise.ReadPath(path)
	}
	return path
}

// releaseCheck has the rules that depend on the release of Kruise.
type releaseCheck struct {
	*subject
	release kruise.Release
}

// checkRelease checks the version and the fields of the object against the release, and
// removes the faults that only other releases find.
func checkRelease(s *subject) {
	r := s.c.Kruise.OrNewest()
	k := releaseCheck{s, r}
	k.dropFaultsOfOthers()
	k.acceptLaterRules()
	requiredFields(s)
	group, version := k.Object.Group(), k.Object.Version()
	if !r.Serves(group, k.Object.Kind(), version) {
		k.notServed(group, version)
		return
	}
	for _, a := range r.Unknown(k.Object.Node()) {
		rule, what := absentField, "refused, or dropped by an API server without strict validation"
		if a.Kept {
			rule, what = droppedField, "silently dropped"
		}
		if a.Kept && a.Empty {
			continue // it would have no effect anyway
		}
		if !k.refused(a.Path) {
			k.releaseFault(rule, a.Kept, a.Path, hintFor(a.Span, r), "%s, and this is %s: it would be %s", a.Words(), r.Name(), what)
		}
	}
	k.earlierRules()
	if typed, ok := k.changedType(); ok {
		k.releaseFault(absentField, false, typed, "write a whole number", "%s accepts only a whole number here", r.Name())
	}
}

func (k releaseCheck) notServed(group, version string) {
	r := k.release
	in, served := kruise.ServedIn(group, k.Object.Kind(), version)
	has := r.Versions(group, k.Object.Kind())
	if len(has) == 0 {
		k.releaseFault(notServed, false, "kind", "", "%s has no %s: it is there %s", r.Name(), k.Object.Kind(), in.Words())
		return
	}
	hint := "write " + group + "/" + has[len(has)-1] + ": 'kubectl kruise convert --to kruise --to-version " + has[len(has)-1] + "' does it"
	if !served {
		k.releaseFault(notServed, false, "apiVersion", hint, "no release of Kruise serves %s as %s", k.Object.Kind(), version)
		return
	}
	if in.First == kruise.Next {
		k.releaseFault(notServed, false, "apiVersion", hint, "no release of Kruise serves %s as %s, only builds after %s", k.Object.Kind(), version, kruise.NewestRelease)
		return
	}
	k.releaseFault(notServed, false, "apiVersion", hint, "%s does not serve %s as %s: that is there %s", r.Name(), k.Object.Kind(), version, in.Words())
}

// hintFor names the release to use for the field.
func hintFor(in kruise.Span, r kruise.Release) string {
	if in.First == kruise.Next {
		return "remove it, or use --kruise-version next for a build of Kruise's main branch"
	}
	if r.Before(in.First) {
		return "remove it, or use " + in.First.Name()
	}
	return "remove it: the field was removed after " + in.Last.Name()
}

// releaseFault reports something that this release refuses. Where the release is not known,
// another one may accept it, and the fault is marked as accepted.
func (s *subject) releaseFault(rule string, accepted bool, path, hint, format string, args ...any) {
	err := resourceError(s.Object.Fault(path, hint, format, args...))
	s.faults = append(s.faults, Fault{Rule: rule, Accepted: accepted || s.c.Kruise.IsZero(), OfRelease: true, Error: err})
}

// dropFaultsOfOthers removes faults about fields that the release has and Kruise's main branch has
// not, and marks those that other releases have.
func (k releaseCheck) dropFaultsOfOthers() {
	gone := map[string]kruise.Absent{}
	for _, a := range kruise.Next.Unknown(k.Object.Node()) {
		gone[a.Path] = a
	}
	k.faults = slices.DeleteFunc(k.faults, func(f Fault) bool {
		a, ok := gone[f.Field]
		return ok && f.Rule == unknownField && (a.Has(k.release) || !a.Has(kruise.Next) && k.c.Kruise != kruise.Next)
	})
}

// changedType returns a field that holds text where the release wants a number.
func (k releaseCheck) changedType() (path string, ok bool) {
	for _, a := range kruise.Changed(k.Object.Node()) {
		since, change, _ := strings.Cut(a.Changes, ": ")
		first, err := kruise.ParseRelease(since)
		if err == nil && change == "type integer→-" && k.release.Before(first.Minor()) && a.Text {
			return a.Path, true
		}
	}
	return "", false
}

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
	// at, if given, narrows it down to objects with a field at this path, whose text it matches.
	at   string
	text *regexp.Regexp
}

var laterRules = []laterRule{
	{kind: kruise.KindEphemeralJob, field: ephemeralContainers, first: kruise.Minor(6)},
	{kind: kruise.KindEphemeralJob, field: "spec.selector", first: kruise.Minor(6), at: "spec.selector"},
	{kind: kruise.KindStatefulSet, field: "metadata.name", first: kruise.Minor(6)},
	{kind: kruise.KindStatefulSet, field: "spec.revisionHistoryLimit", first: kruise.Next},
	{kind: kruise.KindImagePullJob, field: "spec.parallelism", first: kruise.Minor(6)},
	{kind: kruise.KindImagePullJob, field: "spec.completionPolicy.activeDeadlineSeconds", first: kruise.Minor(6)},
	{kind: kruise.KindImageListPullJob, field: "spec.parallelism", first: kruise.Next},
	{kind: kruise.KindSidecarSet, field: "spec.namespaceSelector", first: kruise.Minor(9), at: "spec.namespace"},
	{kind: kruise.KindUnitedDeployment, field: "spec.updateStrategy.type", first: kruise.Next},
	{kind: kruise.KindUnitedDeployment, field: "spec.topology.subsets.replicas", first: kruise.Minor(9), at: "spec.topology.scheduleStrategy.type", text: adaptive},
	{kind: kruise.KindImagePullJob, field: "spec.parallelism", first: kruise.Minor(9), at: "spec.parallelism", text: startsWithNumber},
	{field: ".template.spec.terminationGracePeriodSeconds", first: kruise.Next},
}

// startsWithNumber is about the numbers and texts that 1.8 took for parallelism.
var startsWithNumber = regexp.MustCompile(`^-?[0-9]`)

var adaptive = regexp.MustCompile("^" + string(kruise.AdaptiveUnitedDeploymentScheduleStrategyType) + "$")

// about reports whether a fault is one that the rule finds.
func (l *laterRule) about(s *subject, f Fault) bool {
	if l.kind != "" && l.kind != s.Object.Kind() {
		return false
	}
	if l.field == "metadata.name" && len(validation.IsDNS1123Subdomain(s.r.Name())) > 0 {
		return false
	}
	if at := tree.Get(s.r.Node(), strings.Split(l.at, ".")...); l.at != "" && (at == nil || l.text != nil && !l.text.MatchString(tree.Str(at))) {
		return false
	}
	plain := withoutIndices(f.Field)
	if l.field[0] == '.' {
		return strings.HasSuffix(plain, l.field)
	}
	return under(plain, l.field)
}

// acceptLaterRules marks faults of rules that the release does not have.
func (k releaseCheck) acceptLaterRules() {
	for i, f := range k.faults {
		if f.Rule == unknownField || f.Rule == missingField || f.Rule == wrongType {
			continue
		}
		if slices.ContainsFunc(laterRules, func(l laterRule) bool { return k.release.Before(l.first) && l.about(k.subject, f) }) {
			k.faults[i].Accepted = true
		}
	}
}

// earlierRules are rules that only older releases have: a PodProbeMarker took only commands.
func (k releaseCheck) earlierRules() {
	if k.Object.Kind() != kruise.KindPodProbeMarker || !k.release.Before(kruise.Minor(6)) {
		return
	}
	for i, p := range tree.Items(tree.Get(k.r.Node(), "spec", "probes")) {
		if tree.Get(p, "probe", "tcpSocket") != nil {
			path := "spec.probes[" + strconv.Itoa(i) + "].probe.tcpSocket"
			k.releaseFault(absentField, false, path, "use exec", "%s does not accept this probe: it is supported since Kruise 1.6", k.release.Name())
		}
	}
}
