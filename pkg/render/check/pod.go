package check

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// podOptions are those with which Kruise's webhooks call Kubernetes' validation: each is off, in
// every release, as the recorded verdicts show (docs/kruise/workloads.md#pod-templates). The
// validation of pods reads no process-wide feature gate besides, so that objects for several releases can be
// checked at the same time.
var podOptions = validation.PodValidationOptions{}

// faulter reports one fault of the object under test.
type faulter func(path, hint, format string, args ...any)

// checkPodTemplate checks the pod template at the path as Kruise's webhooks do. claims are
// volumes that come from claim templates.
func checkPodTemplate(s *subject, at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) {
	refused, inPods := podErrors(at, knownFields(s.c.Kruise.OrNewest(), t), claims)
	s.podErrors(s.podFault, refused)
	s.accepted(func() {
		s.podErrors(s.podFault, inPods)
		negativeGrace(s, at, &t.Spec)
	})
	if r := s.c.Kruise.OrNewest(); t.Spec.OS != nil && r.Before(kruise.Minor(6)) { // as recorded of 1.5
		s.releaseFault(podInvalid, false, at+".spec.os", "remove it", "Kruise takes no pods with an operating system before 1.6")
	}
}

// negativeGrace reports a time to stop that an API server takes for a second.
func negativeGrace(s *subject, at string, spec *corev1.PodSpec) {
	if n := spec.TerminationGracePeriodSeconds; n != nil && *n < 0 {
		s.podFault(at+".spec.terminationGracePeriodSeconds", "", "%d must not be negative: pods get 1", *n)
	}
}

func (s *subject) podFault(path, hint, format string, args ...any) {
	s.faultUnder(podInvalid, path, hint, format, args...)
}

// podErrors reports errors of Kubernetes' validation of pods.
func (s *subject) podErrors(fault faulter, list field.ErrorList) {
	seen := map[string]bool{}
	for _, e := range sortedErrors(list) {
		text := wordsOf(e)
		e.Field = s.indexed(e)
		if key := e.Field + " " + text; !seen[key] {
			seen[key] = true
			fault(e.Field, podHint(e), "%s", text)
		}
	}
}

// unindexed are fields of list items whose index Kubernetes leaves out of the path.
var unindexed = []struct{ list, field string }{
	{".volumeMounts", "subPath"}, {".volumeMounts", "subPathExpr"}, {".httpHeaders", "name"},
}

// indexed returns the path of an error with the index of the item that has the value.
func (s *subject) indexed(e *field.Error) string {
	for _, u := range unindexed {
		list, ok := strings.CutSuffix(strings.TrimSuffix(e.Field, "."+u.field), u.list)
		if !ok {
			continue
		}
		items, _ := tree.At(s.r.Node(), list+u.list)
		for i, item := range tree.Items(items) {
			if value := tree.StrAt(item, u.field); value != "" && value == fmt.Sprint(e.BadValue) {
				return fmt.Sprintf("%s%s[%d].%s", list, u.list, i, u.field)
			}
		}
	}
	return e.Field
}

// checkPodMetadata checks the labels and annotations of a pod template.
func checkPodMetadata(at string, t *corev1.PodTemplateSpec, fault faulter) {
	meta := field.NewPath(at, "metadata")
	problems := metavalidation.ValidateLabels(t.Labels, meta.Child("labels"))
	problems = append(problems, apivalidation.ValidateAnnotations(t.Annotations, meta.Child("annotations"))...)
	for _, e := range sortedErrors(problems) {
		fault(e.Field, "", "%s", wordsOf(e))
	}
}

// podErrors returns what Kubernetes refuses of a pod template, and what it accepts in a template
// and refuses in the pods that are made from it.
func podErrors(at string, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) (refused, inPods field.ErrorList) {
	whole := withClaims(t, claims)
	inPods = createErrors(at, whole, true)
	internal := &core.PodTemplateSpec{}
	template := corev1.PodTemplate{Template: *whole}
	withoutPullPolicies(&template.Template.Spec, func() { corev1defaults.SetObjectDefaults_PodTemplate(&template) })
	if err := corev1defaults.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(&template.Template, internal, nil); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath(at), err)}, nil
	}
	refused = validation.ValidatePodTemplateSpec(internal, field.NewPath(at), podOptions)
	for _, list := range []field.ErrorList{refused, inPods} {
		relocate(at, list, t, claims)
	}
	if len(refused) > 0 {
		return refused, nil // most of the other errors would be the same
	}
	return nil, inPods
}

// createErrors returns what Kubernetes refuses of a pod from the template, which gets its defaults.
// started is false where a startupProbe gets none.
func createErrors(at string, t *corev1.PodTemplateSpec, started bool) field.ErrorList {
	pod := corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: *t.Spec.DeepCopy()}
	pod.Name, pod.GenerateName, pod.Namespace = "pod", "", "default"
	if pod.Spec.ServiceAccountName == "" && pod.Spec.DeprecatedServiceAccount == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	probes := map[*corev1.Container]*corev1.Probe{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if c := &list[i]; !started {
				probes[c], c.StartupProbe = c.StartupProbe, nil
			}
		}
	}
	withoutPullPolicies(&pod.Spec, func() { corev1defaults.SetObjectDefaults_Pod(&pod) })
	for c, probe := range probes {
		c.StartupProbe = probe
	}
	internal := &core.Pod{}
	if err := corev1defaults.Convert_v1_Pod_To_core_Pod(&pod, internal, nil); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath(at), err)}
	}
	opts := podOptions
	opts.ResourceIsPod = true
	list := validation.ValidatePodCreate(internal, opts)
	for _, e := range list {
		e.Field = at + "." + e.Field
	}
	return list
}

// withoutPullPolicies gives defaults, but none to image volumes: the Kubernetes that Kruise is built
// with has none for them.
func withoutPullPolicies(spec *corev1.PodSpec, defaults func()) {
	unset := map[int]bool{}
	for i, v := range spec.Volumes {
		unset[i] = v.Image != nil && v.Image.PullPolicy == ""
	}
	defaults()
	for i := range spec.Volumes {
		if unset[i] {
			spec.Volumes[i].Image.PullPolicy = ""
		}
	}
}

// withClaims returns a copy of the template with the volumes of the claims, which take the place
// of volumes with the same name, as a controller of stateful pods puts them there.
func withClaims(t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) *corev1.PodTemplateSpec {
	whole := t.DeepCopy()
	for _, c := range claims {
		v := corev1.Volume{Name: c.Name}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}
		if i := slices.IndexFunc(whole.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == c.Name }); i >= 0 {
			whole.Spec.Volumes[i] = v
			continue
		}
		whole.Spec.Volumes = append(whole.Spec.Volumes, v)
	}
	return whole
}

// knownFields returns the template as the Kubernetes reads it that the release of Kruise is built
// with: it drops fields that came later, without a word. Kruise's main branch and 1.9 have
// Kubernetes 1.32, 1.8 has 1.30 (docs/kruise/workloads.md#pod-templates).
func knownFields(r kruise.Release, t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	t = t.DeepCopy()
	s := &t.Spec
	s.HostnameOverride, s.SchedulingGroup, s.EvictionResponders = nil, nil, nil
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			c := &list[i]
			c.RestartPolicyRules = nil
			if c.Lifecycle != nil {
				c.Lifecycle.StopSignal = nil
			}
			for j := range c.Env {
				if from := c.Env[j].ValueFrom; from != nil {
					from.FileKeyRef = nil
				}
			}
			for j := range c.VolumeMounts {
				c.VolumeMounts[j].BindMountOptions = nil
			}
		}
	}
	if !r.Before(kruise.Minor(9)) {
		return t
	}
	s.Resources = nil
	if s.SecurityContext != nil {
		s.SecurityContext.SELinuxChangePolicy, s.SecurityContext.SupplementalGroupsPolicy = nil, nil
	}
	for i := range s.Volumes {
		s.Volumes[i].Image = nil
	}
	for i := range s.ResourceClaims { // they were in another field
		s.ResourceClaims[i].ResourceClaimName, s.ResourceClaims[i].ResourceClaimTemplateName = nil, nil
	}
	return t
}

// relocate gives errors the paths of the fields that users write: Kubernetes leaves metadata out of
// the paths of labels and annotations, and volumes of claims are not in the template.
func relocate(at string, list field.ErrorList, t *corev1.PodTemplateSpec, claims []corev1.PersistentVolumeClaim) {
	own := len(t.Spec.Volumes)
	var added []int
	for i, c := range claims {
		if !slices.ContainsFunc(t.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == c.Name }) {
			added = append(added, i)
		}
	}
	for _, e := range list {
		rest, _ := strings.CutPrefix(e.Field, at+".")
		if under(rest, "labels") || under(rest, "annotations") {
			e.Field = at + ".metadata." + rest
		}
		for i, claim := range added {
			if under(rest, fmt.Sprintf("spec.volumes[%d]", own+i)) {
				e.Field = fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", claim)
			}
		}
		e.Field = strings.Replace(e.Field, ".deprecatedServiceAccount", ".serviceAccount", 1)
		e.Field = strings.Replace(e.Field, ".spec.HostIPC", ".spec.hostIPC", 1)
		e.Field, _, _ = strings.Cut(e.Field, ".{") // which fields must be unique together
	}
}

// podHints are what to do about an error at a field whose path ends like this.
var podHints = []struct {
	field string
	of    field.ErrorType
	hint  string
}{
	{".ephemeralContainers", field.ErrorTypeForbidden, "remove them: an EphemeralJob puts them into running pods"},
	{".initContainers.livenessProbe", field.ErrorTypeForbidden, "set restartPolicy: Always, or remove it"},
	{".initContainers.readinessProbe", field.ErrorTypeForbidden, "set restartPolicy: Always, or remove it"},
	{".initContainers.startupProbe", field.ErrorTypeForbidden, "set restartPolicy: Always, or remove it"},
	{".initContainers.lifecycle", field.ErrorTypeForbidden, "set restartPolicy: Always, or remove it"},
	{".containers.restartPolicy", field.ErrorTypeForbidden, "remove it: spec.restartPolicy is for all containers"},
	{"Probe", field.ErrorTypeRequired, "give one of exec, httpGet, tcpSocket, grpc"},
	{".valueFrom", field.ErrorTypeInvalid, "keep one of the two"},
	{".resourceFieldRef.resource", field.ErrorTypeNotSupported, "for instance limits.cpu or requests.memory"},
	{".volumeDevices.name", field.ErrorTypeInvalid, "mount it with volumeMounts"},
	{".subPathExpr", field.ErrorTypeInvalid, "keep one of the two"},
	{".sysctls.name", field.ErrorTypeInvalid, "for instance net.core.somaxconn"},
	{".localhostProfile", field.ErrorTypeInvalid, "remove it, or set type: Localhost"},
	{".sleep.seconds", field.ErrorTypeInvalid, "raise terminationGracePeriodSeconds, or sleep for less"},
	{".shareProcessNamespace", field.ErrorTypeInvalid, "remove one of them"},
}

// podHint returns what to do about an error.
func podHint(e *field.Error) string {
	plain := withoutIndices(e.Field)
	for _, h := range podHints {
		if e.Type == h.of && strings.HasSuffix(plain, h.field) {
			return h.hint
		}
	}
	switch {
	case strings.Contains(e.Detail, "cannot be set for a windows pod"), strings.Contains(e.Detail, "may not be set for a windows pod"):
		return "remove it, or change os.name"
	case strings.Contains(e.Detail, "must be equal to"):
		return "set the limit to the same"
	}
	return ""
}

var _ = allowPrivileged()

// allowPrivileged is done once, while the package is initialised: the library keeps it for the process.
// Whether pods may be privileged is up to each cluster, and no question of the manifest.
func allowPrivileged() bool {
	capabilities.Setup(true, 0)
	return true
}

// checkLongRunning refuses fields that pods of a workload that never ends cannot have.
func checkLongRunning(s *subject, kind, at string, spec *corev1.PodSpec) {
	if spec.RestartPolicy != "" && spec.RestartPolicy != corev1.RestartPolicyAlways {
		s.podFault(at+".spec.restartPolicy", "", "%q is not allowed: want Always", spec.RestartPolicy)
	}
	if spec.ActiveDeadlineSeconds != nil {
		s.podFault(at+".spec.activeDeadlineSeconds", "remove it", "pods of a %s have no deadline", kind)
	}
}

// nodeTerm checks which nodes a term selects.
func nodeTerm(s *subject, at string, term *corev1.NodeSelectorTerm) {
	var internal core.NodeSelectorTerm
	if err := corev1defaults.Convert_v1_NodeSelectorTerm_To_core_NodeSelectorTerm(term, &internal, nil); err == nil {
		s.podErrors(s.fault, validation.ValidateNodeSelectorTerm(internal, podOptions.AllowInvalidLabelValueInRequiredNodeAffinity, field.NewPath(at)))
	}
}

// preferredNodes checks which nodes terms prefer.
func preferredNodes(s *subject, at string, terms []corev1.PreferredSchedulingTerm) {
	internal := make([]core.PreferredSchedulingTerm, len(terms))
	for i := range terms {
		if corev1defaults.Convert_v1_PreferredSchedulingTerm_To_core_PreferredSchedulingTerm(&terms[i], &internal[i], nil) != nil {
			return
		}
	}
	s.podErrors(s.fault, validation.ValidatePreferredSchedulingTerms(internal, field.NewPath(at)))
}

// tolerations checks which taints pods tolerate.
func tolerations(s *subject, at string, list []corev1.Toleration) {
	internal := make([]core.Toleration, len(list))
	for i := range list {
		if corev1defaults.Convert_v1_Toleration_To_core_Toleration(&list[i], &internal[i], nil) != nil {
			return
		}
	}
	s.podErrors(s.fault, validation.ValidateTolerations(internal, field.NewPath(at), podOptions))
}

// ephemeralErrors returns what Kubernetes refuses of ephemeral containers, none of which gets a
// default. Which volumes the pods have is not known.
func ephemeralErrors(at string, list []corev1.EphemeralContainer) field.ErrorList {
	spec := core.PodSpec{EphemeralContainers: make([]core.EphemeralContainer, len(list))}
	for i := range list {
		if err := corev1defaults.Convert_v1_EphemeralContainer_To_core_EphemeralContainer(&list[i], &spec.EphemeralContainers[i], nil); err != nil {
			return field.ErrorList{field.InternalError(field.NewPath(at), err)}
		}
	}
	all := validation.ValidatePodSpec(&spec, nil, field.NewPath("pod"), podOptions)
	return only(all, map[string]string{"pod.ephemeralContainers": at}, func(e *field.Error) bool {
		return e.Type != field.ErrorTypeNotFound
	})
}

// only returns the errors at the places, with the paths that the places have in the object.
func only(list field.ErrorList, places map[string]string, wanted func(*field.Error) bool) (out field.ErrorList) {
	for _, e := range list {
		for _, place := range slices.Sorted(maps.Keys(places)) {
			if rest, ok := strings.CutPrefix(e.Field, place); ok && under(e.Field, place) && wanted(e) {
				e.Field = places[place] + rest
				out = append(out, e)
				break
			}
		}
	}
	return out
}

func isAny(*field.Error) bool { return true }

// isGiven reports an error about a value, and not about one that is missing from a claim.
func isGiven(e *field.Error) bool {
	return e.Type != field.ErrorTypeRequired || !strings.HasPrefix(e.Field, "spec.volumeClaimTemplates")
}

// wordsOf returns the message of an error of Kubernetes. It quotes values where these are names or
// amounts, and none of annotations, of options of drivers and of variables, which may be secret.
func wordsOf(e *field.Error) string {
	detail := withoutExpression(e.Detail)
	value, bad := "", pointedTo(e.BadValue)
	switch v := bad.(type) {
	case string:
		value = fmt.Sprintf("%q", v)
	case int, int32, int64:
		value = fmt.Sprint(v)
	default:
		if n, ok := bad.(fmt.Stringer); ok && reflect.ValueOf(bad).Kind() != reflect.Pointer {
			value = n.String()
		} else if text := reflect.ValueOf(bad); text.Kind() == reflect.String {
			value = fmt.Sprintf("%q", text.String())
		}
	}
	path := withoutIndices(e.Field)
	if slices.ContainsFunc(secretFields, func(f string) bool { return strings.HasSuffix(path, f) || strings.Contains(path, f+".") }) {
		value, detail = "the value", quotation.ReplaceAllString(detail, "it")
	}
	switch {
	case e.Type == field.ErrorTypeRequired && detail == "":
		return "required"
	case e.Type == field.ErrorTypeRequired:
		return "required: " + detail
	case e.Type == field.ErrorTypeForbidden:
		return "not allowed: " + detail
	case e.Type == field.ErrorTypeDuplicate:
		return fmt.Sprintf("%v is there twice", bad)
	case e.Type == field.ErrorTypeNotFound:
		return fmt.Sprintf("there is no %q", fmt.Sprint(bad))
	case e.Type == field.ErrorTypeNotSupported:
		wanted := strings.Split(strings.ReplaceAll(strings.TrimPrefix(detail, "supported values: "), `"`, ""), ", ")
		return fmt.Sprintf("%q is not allowed: want %s", fmt.Sprint(bad), choiceText(wanted))
	case value != "" && value != `""` && detail != "":
		return value + ": " + detail
	case detail == "":
		return "not valid"
	}
	return detail
}

// pointedTo returns the value that an optional field holds, since a pointer is printed as an address;
// amounts keep theirs, which is what prints them.
func pointedTo(value any) any {
	if p := reflect.ValueOf(value); p.Kind() == reflect.Pointer && !p.IsNil() && p.Elem().Kind() != reflect.Struct {
		return p.Elem().Interface()
	}
	return value
}

// quotation is a part of a message that may be the value.
var quotation = regexp.MustCompile(`"[^"]*"`)

// withoutExpression leaves out the regular expression after the examples of what is allowed.
func withoutExpression(detail string) string {
	before, rest, found := strings.Cut(detail, ", regex used for validation is '")
	if !found {
		return detail
	}
	_, after, _ := strings.Cut(rest, "')")
	return before + ")" + withoutExpression(after)
}

// secretFields are those whose values are never quoted, and what is below them.
var secretFields = []string{".annotations", ".value", ".volumeAttributes", ".options", ".args", ".command", ".httpHeaders.value"}
