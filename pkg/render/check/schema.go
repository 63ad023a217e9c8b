package check

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// UnknownField is the ID of the rule about fields that a kind does not have. An
// API server drops such a field unless it is asked to be strict.
const UnknownField = unknownField

// Dropped returns the fields that Kubernetes does not know where Kruise's schema takes any, such
// as in pod templates: an API server keeps them, even with strict validation, but rendered objects
// and pods do not get them. The hint is the field that was probably meant; kinds of others have no
// hint.
func Dropped(c *stage.Context, r *resource.Resource) map[string]string {
	s := newSubject(c, Request{Object: r})
	if s.kind == nil {
		return nil
	}
	unknown, err := kruise.Decode(r.Node(), NewObject(s.kind.group, s.kind.kind))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, path := range unknown {
		if s.isOpen(path) && !under(path, "status") {
			out[path] = s.spelling(path)
		}
	}
	return out
}

// maxTypeFaults bounds how many values of a wrong type are reported of one object.
const maxTypeFaults = 100

// read decodes the object into its type, and reports values of a wrong type, unknown fields and bad
// metadata. What is checked further is the object without the values of a wrong type, so that one
// run reports all that is wrong. It returns false when the object cannot be read at all.
func (s *subject) read(into any) bool {
	unknown, readable := s.decodeAll(into)
	if !readable {
		return false
	}
	for _, path := range unknown { // in the version that the object is written in
		if !s.isOpen(path) {
			s.faults = append(s.faults, Fault{Rule: unknownField, Error: s.asWritten(resourceError(s.r.Fault(path, s.spelling(path), "unknown field")))})
		}
	}
	if a, ok := into.(metav1.ObjectMetaAccessor); ok {
		if meta, ok := a.GetObjectMeta().(*metav1.ObjectMeta); ok {
			s.metadata(*meta)
		}
	}
	return true
}

// decodeAll decodes the object, and reports each value that does not fit its type and takes it for
// one that is not there.
func (s *subject) decodeAll(into any) (unknown []string, readable bool) {
	n, last := s.r.Node(), ""
	for range maxTypeFaults {
		reflect.ValueOf(into).Elem().SetZero()
		unknown, err := kruise.Decode(n, into)
		if err == nil {
			if last != "" {
				s.r = resource.Parsed(n, nil, s.Object.Origin)
			}
			return unknown, true
		}
		wrongly := s.asWritten(resourceError(s.r.Wrap(err, "")))
		// A status comes to nothing, unless a webhook reads the object before it is dropped.
		dropped := !s.kind.filled && under(wrongly.Field, "status")
		s.faults = append(s.faults, Fault{Rule: wrongType, Accepted: dropped, Error: wrongly})
		te, placed := errors.AsType[*tree.Error](err)
		if !placed || te.Path == "" || te.Path == "apiVersion" || te.Path == last {
			return nil, false
		}
		if last == "" {
			n = tree.Clone(n)
		}
		wrong, whole := tree.At(n, te.Path)
		if !whole {
			return nil, false
		}
		*wrong, last = *tree.Null(), te.Path
	}
	return nil, false
}

// withoutConsequences removes what is wrong only because a value of a wrong type was taken for one that
// is not there.
func (s *subject) withoutConsequences() {
	var wrong []string
	for _, f := range s.faults {
		if f.Rule == wrongType && f.Field != "" && f.Field != "apiVersion" {
			wrong = append(wrong, f.Field)
		}
	}
	s.faults = slices.DeleteFunc(s.faults, func(f Fault) bool {
		return f.Rule != wrongType && slices.ContainsFunc(wrong, func(at string) bool { return under(f.Field, at) || under(at, f.Field) })
	})
}

// isOpen reports a path at which the schema accepts unknown fields.
func (s *subject) isOpen(path string) bool {
	plain := withoutIndices(path)
	if slices.ContainsFunc(s.kind.closed, func(prefix string) bool { return under(plain, prefix) }) {
		return false
	}
	return s.Old != nil && under(plain, "status") || // not the user's doing
		slices.ContainsFunc(s.kind.open, func(prefix string) bool { return under(plain, prefix) && plain != prefix })
}

// spelling returns a hint for an unknown field.
func (s *subject) spelling(path string) string {
	if s.kind.misplaced != nil {
		if hint := s.kind.misplaced(s.r.Version(), path); hint != "" {
			return hint
		}
	}
	return spelling(s.kind.object, path)
}

// spelling is the hint for an unknown field: the field of obj, a typed object,
// at the same place with a similar name, or the place of the only field with this name, or
// the places of two that differ only by their list.
func spelling(obj any, path string) string {
	steps := tree.Steps(path)
	if len(steps) == 0 { // a key that is empty
		return "check the spelling"
	}
	t, last := reflect.TypeOf(obj), steps[len(steps)-1]
	for _, step := range steps[:len(steps)-1] {
		if t = child(t, step); t == nil {
			return "check the spelling"
		}
	}
	siblings := fields(deref(t))
	best, akin := tree.Nearest(last, maps.Keys(siblings)), tree.Akin(last, maps.Keys(siblings))
	switch places := nearestFields(reflect.TypeOf(obj), last); {
	case best == last: // our types are those of the newest version
		return "only " + kruise.V1beta1 + " has it: change apiVersion"
	case best != "":
		return "did you mean " + best + "?"
	case len(places) == 1 || len(places) == 2 && strings.HasSuffix(parent(places[0]), "[]") && strings.HasSuffix(parent(places[1]), "[]"):
		return "it belongs to " + strings.Join(places, " or ")
	case akin != "":
		return "did you mean " + akin + "?"
	}
	return "check the spelling"
}

// parent is the path without its last field.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// nearestFields returns the places of the fields with this name nearest to the top of
// the spec, sorted; [] is any item of a list.
func nearestFields(obj reflect.Type, name string) []string {
	at := map[string]reflect.Type{"spec": child(obj, "spec")}
	for range 4 {
		var found []string
		next := map[string]reflect.Type{}
		for place, t := range at {
			t, place = item(t, place)
			for field, below := range fields(t) {
				if next[place+"."+field] = below; field == name {
					found = append(found, place+"."+field)
				}
			}
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found
		}
		at = next
	}
	return nil
}

// item is what a list at this place holds, or t itself.
func item(t reflect.Type, place string) (reflect.Type, string) {
	if t = deref(t); t != nil && t.Kind() == reflect.Slice {
		return deref(t.Elem()), place + "[]"
	}
	return t, place
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// child returns the type of what step leads to, nil when t has no such thing.
func child(t reflect.Type, step string) reflect.Type {
	t = deref(t)
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return t.Elem()
	case reflect.Struct:
		return fields(t)[step]
	default:
		return nil
	}
}

// fields returns the types of a struct's fields by their names in JSON.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	if t == nil || t.Kind() != reflect.Struct {
		return out
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			maps.Copy(out, fields(deref(f.Type)))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}

// requiredFields reports the fields that the schema requires and the object lacks:
// those of the types that are written even when empty, which a test compares
// with the schemas. A place that has a fault already gets no second one.
func requiredFields(s *subject) {
	hub := newest(s.r)
	if hub == nil {
		return // reported when it was decoded
	}
	g := gaps{kind: s.kind}
	g.walk(hub, reflect.TypeOf(s.kind.object), "")
	for _, path := range g.missing {
		if !s.refused(path) {
			s.faultUnder(missingField, path, "", "required")
		}
	}
}

// faulty reports whether a fault was found at the field, or above or below it.
func (s *subject) faulty(path string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool { return under(f.Field, path) || under(path, f.Field) })
}

// refused is [subject.faulty] for faults for which Kruise refuses the object.
func (s *subject) refused(path string) bool {
	return slices.ContainsFunc(s.faults, func(f Fault) bool {
		return !f.Accepted && (under(f.Field, path) || under(path, f.Field))
	})
}

// gaps collects the paths of missing fields.
type gaps struct {
	kind    *kindRules
	missing []string
}

func (g *gaps) walk(n *tree.Node, t reflect.Type, path string) {
	t = deref(t)
	switch {
	case slices.Contains(g.kind.open, withoutIndices(path)):
	case t.Kind() == reflect.Slice:
		for i, item := range tree.Items(n) {
			at := fmt.Sprintf("%s[%d]", path, i)
			if tree.IsNull(item) && !g.kind.filled {
				g.missing = append(g.missing, at)
			}
			g.walk(item, t.Elem(), at)
		}
	case t.Kind() == reflect.Map:
		tree.Each(n, func(key, value *tree.Node) { g.walk(value, t.Elem(), path+"["+key.Value+"]") })
	case t.Kind() == reflect.Struct && tree.IsMap(n):
		for f := range t.Fields() {
			g.field(n, f, path)
		}
	}
}

func (g *gaps) field(n *tree.Node, f reflect.StructField, path string) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	at := strings.TrimPrefix(path+"."+name, ".")
	child := tree.Get(n, name)
	switch {
	case name == "" && f.Anonymous:
		g.walk(n, f.Type, path)
	case path == "" && name != "spec", name == "", name == "-":
	case !tree.IsNull(child):
		g.walk(child, f.Type, at)
	case !strings.Contains(options, "omit") && path != "" && g.wanted(f):
		g.missing = append(g.missing, at)
	}
}

// wanted reports whether the schema misses a field that is written even when
// empty.
func (g *gaps) wanted(f reflect.StructField) bool {
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return f.Name != "Service" // the schema gives gRPC's service a default
	default:
		return !g.kind.filled
	}
}

// natives are the types of Kubernetes' own kinds that are often applied with Kruise's.
var natives = map[string]func() any{
	"v1/ConfigMap":                  func() any { return &corev1.ConfigMap{} },
	"v1/Secret":                     func() any { return &corev1.Secret{} },
	"v1/Service":                    func() any { return &corev1.Service{} },
	"v1/Pod":                        func() any { return &corev1.Pod{} },
	"apps/v1/Deployment":            func() any { return &appsv1.Deployment{} },
	"apps/v1/StatefulSet":           func() any { return &appsv1.StatefulSet{} },
	"apps/v1/DaemonSet":             func() any { return &appsv1.DaemonSet{} },
	"apps/v1/ReplicaSet":            func() any { return &appsv1.ReplicaSet{} },
	"batch/v1/Job":                  func() any { return &batchv1.Job{} },
	"batch/v1/CronJob":              func() any { return &batchv1.CronJob{} },
	"policy/v1/PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
}

// Native returns the faults in the types of values of an object of Kubernetes' own kinds: the
// API server decodes the object in the same way, and refuses one that it cannot decode.
func Native(r *resource.Resource) []Fault {
	into := natives[r.APIVersion()+"/"+r.Kind()]
	if into == nil {
		return nil
	}
	if _, err := tree.Decode(r.Node(), into()); err != nil {
		return []Fault{{Rule: wrongType, Error: resourceError(r.Wrap(err, ""))}}
	}
	return nil
}

// newest returns the object in its newest version; nil when there is none.
func newest(r *resource.Resource) *tree.Node {
	hub, _, err := kruise.ToHub(r.Node())
	if err != nil {
		return nil
	}
	return hub
}
