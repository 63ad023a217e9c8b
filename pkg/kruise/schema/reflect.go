package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// reader makes schemas of Go types. Kubernetes' structs become definitions that
// are referred to; Kruise's are written out in their place, so that each
// place can be described by itself.
type reader struct {
	definitions Definitions
}

var kruisePackage = reflect.TypeFor[kruise.CloneSet]().PkgPath()

// wellKnown are types that write themselves.
var wellKnown = map[reflect.Type]*Schema{
	reflect.TypeFor[intstr.IntOrString]():   {AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}},
	reflect.TypeFor[resource.Quantity]():    {AnyOf: []*Schema{{Type: "number"}, {Type: "string"}}},
	reflect.TypeFor[metav1.Time]():          {Type: "string", Format: "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {Type: "string", Format: "date-time"},
	reflect.TypeFor[metav1.Duration]():      {Type: "string"},
	reflect.TypeFor[metav1.FieldsV1]():      {Type: "object"},
	reflect.TypeFor[runtime.RawExtension](): {Type: "object"},
	reflect.TypeFor[json.RawMessage]():      {},
}

func (r *reader) of(t reflect.Type) *Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := wellKnown[t]; ok {
		c := *s
		return &c
	}
	switch t.Kind() {
	case reflect.Struct:
		// The schema of a struct.
		if t.PkgPath() == kruisePackage {
			s := &Schema{Type: "object", Properties: map[string]*Schema{}}
			r.fields(s, t)
			return s
		}
		// The name of a type of Kubernetes in its OpenAPI documents, such as io.k8s.api.core.v1.Pod.
		host, path, _ := strings.Cut(t.PkgPath(), "/")
		parts := strings.Split(host, ".")
		slices.Reverse(parts)
		name := strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
		if _, ok := r.definitions[name]; !ok {
			s := &Schema{Type: "object", Properties: map[string]*Schema{}}
			r.definitions[name] = s // before its fields: some types hold themselves
			s.Description = describe(t)[""]
			r.fields(s, t)
		}
		return &Schema{Ref: prefix + name}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Schema{Type: "string", Format: "byte"}
		}
		return &Schema{Type: "array", Items: r.of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: r.of(t.Elem())}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return &Schema{Type: "string", Enum: valuesOf(t)}
	case reflect.Int32, reflect.Int64:
		return &Schema{Type: "integer", Format: t.Kind().String()}
	case reflect.Float64:
		return &Schema{Type: "number"}
	}
	return &Schema{}
}

// fields adds the fields of a struct, those of inlined ones too.
func (r *reader) fields(s *Schema, t reflect.Type) {
	text := describe(t)
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inlined := f.Type
		for inlined.Kind() == reflect.Pointer {
			inlined = inlined.Elem()
		}
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && f.Anonymous:
			r.fields(s, inlined)
			continue
		}
		p := r.of(f.Type)
		if p.Ref == "" || text[name] == "" {
			p.Description = text[name]
		} else { // beside a reference a reader may look at nothing else
			p = &Schema{Ref: p.Ref, Description: text[name]}
		}
		p.PatchStrategy, p.PatchMergeKey = f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey")
		s.Properties[name] = p
		if !strings.Contains(options, "omit") && !optional[t.Name()+"."+name] {
			s.Required = append(s.Required, name)
		}
	}
	slices.Sort(s.Required)
}

// optional are fields that are written although they are empty, and need not be
// given: Kruise's webhook fills them in.
var optional = map[string]bool{"ImagePullJobTemplate.completionPolicy": true}

// made is everything that reflection makes, once for the program. It must not
// be changed.
type made struct {
	// kinds are by group/version and kind.
	kinds map[[2]string]*Schema
	// shared are Kubernetes' types.
	shared Definitions
}

var all = sync.OnceValues(func() (made, error) {
	m := made{kinds: map[[2]string]*Schema{}, shared: Definitions{}}
	r := &reader{definitions: m.shared}
	for _, k := range kruise.Kinds() {
		newest, err := r.kind(k)
		if err != nil {
			return made{}, err
		}
		m.kinds[[2]string{k.Group + "/" + k.Newest(), k.Kind}] = newest
		if len(k.Versions) == 1 {
			continue
		}
		older, err := derived(k, newest)
		if err != nil {
			return made{}, fmt.Errorf("%s: %w", k.Kind, err)
		}
		m.kinds[[2]string{k.Group + "/" + k.Versions[0], k.Kind}] = older
	}
	return m, nil
})

// kind is the schema of a kind in its newest version.
func (r *reader) kind(k kruise.Registered) (*Schema, error) {
	s := &Schema{
		Type: "object", Description: describe(k.Type)[""], Required: []string{"apiVersion", "kind", "metadata", "spec"},
		Properties: map[string]*Schema{
			"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": r.of(reflect.TypeFor[metav1.ObjectMeta]()),
		},
	}
	for _, name := range []string{"Spec", "Status"} {
		f, ok := k.Type.FieldByName(name)
		if !ok {
			return nil, fmt.Errorf("%s has no field %s", k.Kind, name)
		}
		s.Properties[strings.ToLower(name)] = r.of(f.Type)
	}
	optionalBelow(s.Properties["status"])
	for _, path := range ownSelector[k.Kind] {
		spec := s.at(strings.Split(path, "."))
		whole := *r.definitions[strings.TrimPrefix(spec.Ref, prefix)]
		whole.Required = slices.DeleteFunc(slices.Clone(whole.Required), func(name string) bool { return name == "selector" })
		*spec = whole
	}
	for path, key := range mergeKeys[k.Kind] {
		list := s.at(strings.Split(path, "."))
		if list == nil || list.Type != "array" {
			return nil, fmt.Errorf("%s has no list %s", k.Kind, path)
		}
		list.PatchStrategy, list.PatchMergeKey = "merge", key
	}
	return s, nil
}

// ownSelector are specs of Kubernetes' workloads that get their selector from the
// object around them (docs/kruise/sidecarset.md#observed-on-a-cluster).
var ownSelector = map[string][]string{
	kruise.KindUnitedDeployment: {"spec.template.statefulSetTemplate.spec", "spec.template.deploymentTemplate.spec"},
}

// optionalBelow takes away what a status requires: it is written bit by bit.
func optionalBelow(s *Schema) {
	s.Required = nil
	s.each(func(_ string, child *Schema) { optionalBelow(child) })
}

// enums are the values of Kubernetes' types that have few and are written in
// pods and workloads. Reflection does not see constants; Kruise's are read from
// the sources, see [written].
var enums = map[reflect.Type][]string{
	reflect.TypeFor[appsv1.StatefulSetUpdateStrategyType](): texts(appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType),
	reflect.TypeFor[appsv1.DaemonSetUpdateStrategyType]():   texts(appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType),
	reflect.TypeFor[appsv1.DeploymentStrategyType]():        texts(appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType),
	reflect.TypeFor[appsv1.PodManagementPolicyType]():       texts(appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
	reflect.TypeFor[appsv1.PersistentVolumeClaimRetentionPolicyType](): texts(
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType),
	reflect.TypeFor[batchv1.CompletionMode]():               texts(batchv1.NonIndexedCompletion, batchv1.IndexedCompletion),
	reflect.TypeFor[corev1.PullPolicy]():                    texts(corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever),
	reflect.TypeFor[corev1.RestartPolicy]():                 texts(corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever),
	reflect.TypeFor[corev1.Protocol]():                      texts(corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
	reflect.TypeFor[corev1.DNSPolicy]():                     texts(corev1.DNSClusterFirst, corev1.DNSClusterFirstWithHostNet, corev1.DNSDefault, corev1.DNSNone),
	reflect.TypeFor[corev1.TerminationMessagePolicy]():      texts(corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError),
	reflect.TypeFor[corev1.TolerationOperator]():            texts(corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt),
	reflect.TypeFor[corev1.UnsatisfiableConstraintAction](): texts(corev1.DoNotSchedule, corev1.ScheduleAnyway),
	reflect.TypeFor[metav1.LabelSelectorOperator](): texts(metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
		metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist),
}

func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// sources holds what reflection does not see of Kruise's types: a test writes
// the file from package kruise.
//
//go:embed sources.json
var sources []byte

// written is the content of the sources.
type written struct {
	// Comments are by TYPE and TYPE.Field.
	Comments map[string]string `json:"comments"`
	// Values are the constants of a type of text.
	Values map[string][]string `json:"values"`
}

var readSources = sync.OnceValue(func() (w written) {
	// A test would show that the file is broken.
	_ = json.Unmarshal(sources, &w)
	return w
})

// describe returns what is known about the fields of a type, by their keys; ""
// is the type itself.
func describe(t reflect.Type) map[string]string {
	if t.PkgPath() != kruisePackage {
		if d, ok := reflect.TypeAssert[interface{ SwaggerDoc() map[string]string }](reflect.Zero(t)); ok {
			return d.SwaggerDoc()
		}
		return nil
	}
	comments := readSources().Comments
	out := map[string]string{"": comments[t.Name()]}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if text := comments[t.Name()+"."+f.Name]; text != "" && name != "" {
			out[name] = text
		}
	}
	return out
}

// valuesOf are what a type of text may be, nil for anything.
func valuesOf(t reflect.Type) []string {
	if t.PkgPath() == kruisePackage {
		return slices.Clone(readSources().Values[t.Name()])
	}
	return slices.Clone(enums[t])
}

// mergeKeys are the lists of Kruise's own whose elements have a key, by kind and
// path in the newest version; [] steps into a list. The lists of Kubernetes'
// types, such as containers and volumes, bring theirs along.
var mergeKeys = map[string]map[string]string{
	kruise.KindContainerRecreateRequest: {"spec.containers": "name"},
	kruise.KindEphemeralJob:             {"spec.template.ephemeralContainers": "name"},
	kruise.KindNodeImage:                {"spec.images.{}.tags": "tag"},
	kruise.KindPersistentPodState:       {"spec.persistentPodAnnotations": "key"},
	kruise.KindPodProbeMarker:           {"spec.probes": "name"},
	kruise.KindResourceDistribution: {
		"spec.targets.includedNamespaces.list": "name",
		"spec.targets.excludedNamespaces.list": "name",
	},
	kruise.KindSidecarSet: {
		"spec.initContainers":   "name",
		"spec.containers":       "name",
		"spec.volumes":          "name",
		"spec.imagePullSecrets": "name",
	},
	kruise.KindUnitedDeployment: {"spec.topology.subsets": "name"},
	kruise.KindWorkloadSpread:   {"spec.subsets": "name"},
}
