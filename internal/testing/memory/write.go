package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"sigs.k8s.io/yaml"
)

// manager is who writes.
func (q *request) manager() string {
	if name := q.URL.Query().Get("fieldManager"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(q.UserAgent(), "/")
	return name
}

// fresh gives a new object what only the server gives.
func (s *Server) fresh(r *Resource, u *unstructured.Unstructured) {
	u.SetGroupVersionKind(r.GroupVersionKind)
	u.SetUID(uuid.NewUUID())
	u.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	u.SetResourceVersion("")
	u.SetGeneration(0)
	u.SetDeletionTimestamp(nil)
	u.SetDeletionGracePeriodSeconds(nil)
	if r.Generations {
		u.SetGeneration(1)
	}
	switch {
	case r.Kind == "Pod":
		u.Object["status"] = map[string]any{"phase": "Pending"}
	case r.Kind == "Namespace":
		u.Object["status"] = map[string]any{"phase": "Active"}
		u.SetLabels(with(u.GetLabels(), "kubernetes.io/metadata.name", u.GetName()))
	case r.Status && r.Kind != "Node":
		delete(u.Object, "status")
	}
}

func with(labels map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	maps.Copy(out, labels)
	return out
}

// defaulted fills in what Kubernetes fills in for its own kinds, and leaves of the metadata what the type keeps.
func defaulted(r *Resource, u *unstructured.Unstructured) error {
	about := &metav1.ObjectMeta{}
	raw, _, _ := unstructured.NestedMap(u.Object, "metadata")
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, about); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	tidy, err := runtime.DefaultUnstructuredConverter.ToUnstructured(about)
	if err != nil {
		return err
	}
	u.Object["metadata"] = tidy
	if !r.native() || !legacyscheme.Scheme.Recognizes(r.GroupVersionKind) {
		return nil
	}
	typed, err := legacyscheme.Scheme.New(r.GroupVersionKind)
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	legacyscheme.Scheme.Default(typed)
	if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return err
	}
	u.SetGroupVersionKind(r.GroupVersionKind)
	return nil
}

func (s *Server) create(q *request) (int, any, error) {
	u, err := decode(q.body)
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	out, err := s.add(q, u, nil)
	return http.StatusCreated, out, err
}

// add stores a new object. An object that is applied has its owners already.
func (s *Server) add(q *request, u *unstructured.Unstructured, applied *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch {
	case u.GetNamespace() != "" && u.GetNamespace() != q.namespace:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the namespace of the provided object does not match the namespace sent on the request (%s)", q.namespace))
	case u.GetKind() != "" && u.GetKind() != q.Kind:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in the body is not the %s of the path", u.GetKind(), q.Kind))
	}
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + rand.String(5))
	}
	if q.name = u.GetName(); q.name == "" {
		return nil, apierrors.NewInvalid(q.GroupKind(), "", field.ErrorList{field.Required(field.NewPath("metadata", "name"), "name or generateName is required")})
	}
	if !q.Cluster {
		u.SetNamespace(q.namespace)
	}
	s.fresh(q.Resource, u)
	if err := defaulted(q.Resource, u); err != nil {
		return nil, err
	}
	if applied == nil {
		m, err := s.owners.of(q.Resource, q.subresource)
		if err != nil {
			return nil, err
		}
		empty := &unstructured.Unstructured{Object: map[string]any{}}
		empty.SetGroupVersionKind(q.GroupVersionKind)
		u = m.UpdateNoErrors(empty, u, q.manager()).(*unstructured.Unstructured)
	}
	u, err := s.admit(q, admissionv1.Create, nil, u)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	namespace := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	if home := s.of(s.resource(namespace)).objects[types.NamespacedName{Name: q.namespace}]; q.namespace != "" && home == nil {
		return nil, apierrors.NewNotFound(namespace.GroupResource(), q.namespace)
	}
	if s.stored(q) != nil {
		return nil, apierrors.NewAlreadyExists(q.key().GroupResource(), q.name)
	}
	if !q.dryRun {
		s.put(q.Resource, u)
		if s.orphaned(u) {
			s.end(q.Resource, u, &metav1.DeleteOptions{})
		}
	}
	return u, nil
}

// admit asks all webhooks.
func (s *Server) admit(q *request, op admissionv1.Operation, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	hooks := s.admission
	s.mu.Unlock()
	if q.subresource == "status" {
		return after, nil // no webhook of Kruise is asked for it
	}
	for _, hook := range hooks {
		r := &admissionv1.AdmissionRequest{
			UID: uuid.NewUUID(), Kind: metav1.GroupVersionKind(q.GroupVersionKind), Resource: metav1.GroupVersionResource(q.key()),
			SubResource: q.subresource, Name: q.name, Namespace: q.namespace, Operation: op, DryRun: &q.dryRun,
		}
		for raw, u := range map[*runtime.RawExtension]*unstructured.Unstructured{&r.OldObject: before, &r.Object: after} {
			if u != nil {
				text, err := u.MarshalJSON()
				if err != nil {
					return nil, err
				}
				raw.Raw = text
			}
		}
		patch, err := hook(context.WithoutCancel(q.Context()), r)
		if err != nil {
			return nil, err
		}
		if patch == nil || after == nil {
			continue
		}
		text, err := jsonPatched(r.Object.Raw, patch)
		if err != nil {
			return nil, err
		}
		if after, err = decode(text); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// change makes the next state of the object that a request names, and stores it; when something else was written
// meanwhile, it starts again.
func (s *Server) change(q *request, next func(before *unstructured.Unstructured) (*unstructured.Unstructured, error)) (int, any, error) {
	for {
		s.mu.Lock()
		before := s.stored(q)
		s.mu.Unlock()
		if before == nil {
			return 0, nil, q.notFound()
		}
		after, err := next(before.DeepCopy())
		if err != nil {
			return 0, nil, err
		}
		if after, err = s.prepared(q, before, after); err != nil {
			return 0, nil, err
		}
		s.mu.Lock()
		if s.stored(q) != before {
			s.mu.Unlock()
			continue
		}
		out := before
		if !same(before, after) {
			out = after
			if !q.dryRun {
				s.settle(q.Resource, after)
			}
		}
		s.mu.Unlock()
		return http.StatusOK, out, nil
	}
}

// prepared is the next state as it is stored: each endpoint changes its own part, and the server's fields stay.
func (s *Server) prepared(q *request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if version := after.GetResourceVersion(); version != "" && version != before.GetResourceVersion() {
		return nil, q.conflict("the object has been modified; please apply your changes to the latest version and try again")
	}
	if uid := after.GetUID(); uid != "" && uid != before.GetUID() {
		if q.Method == http.MethodPut {
			return nil, q.conflict("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, before.GetUID())
		}
		return nil, apierrors.NewInvalid(q.GroupKind(), q.name, field.ErrorList{field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable")})
	}
	after.SetGroupVersionKind(q.GroupVersionKind)
	owned := after.GetManagedFields()
	if q.subresource == "status" {
		whole := before.DeepCopy()
		delete(whole.Object, "status")
		if value, ok := after.Object["status"]; ok {
			whole.Object["status"] = value
		}
		after = whole
	} else if q.Status {
		delete(after.Object, "status")
		if value, ok := before.Object["status"]; ok {
			after.Object["status"] = value
		}
	}
	after.SetManagedFields(owned)
	after.SetUID(before.GetUID())
	after.SetName(before.GetName())
	after.SetNamespace(before.GetNamespace())
	after.SetCreationTimestamp(before.GetCreationTimestamp())
	after.SetDeletionTimestamp(before.GetDeletionTimestamp())
	after.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	after.SetResourceVersion(before.GetResourceVersion())
	if err := defaulted(q.Resource, after); err != nil {
		return nil, err
	}
	if contentType(q.Request) != string(types.ApplyPatchType) {
		m, err := s.owners.of(q.Resource, q.subresource)
		if err != nil {
			return nil, err
		}
		after = m.UpdateNoErrors(before, after, q.manager()).(*unstructured.Unstructured)
	}
	after, err := s.admit(q, admissionv1.Update, before, after)
	if err != nil {
		return nil, err
	}
	after.SetGeneration(before.GetGeneration())
	if q.Generations && !reflect.DeepEqual(content(before), content(after)) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if before.GetGeneration() == 0 {
		after.SetGeneration(0)
	}
	return after, nil
}

// content is what generations count.
func content(u *unstructured.Unstructured) map[string]any {
	out := map[string]any{}
	for key, value := range u.Object {
		if key != "metadata" && key != "status" {
			out[key] = value
		}
	}
	return out
}

// same is whether a write changes nothing. Only the time at which fields were owned may differ.
func same(before, after *unstructured.Unstructured) bool {
	return reflect.DeepEqual(timeless(before), timeless(after))
}

// timeless is an object without the times of its owners. It shares all else.
func timeless(u *unstructured.Unstructured) map[string]any {
	about, _ := u.Object["metadata"].(map[string]any)
	about = maps.Clone(about)
	if owners, ok := about["managedFields"].([]any); ok {
		owners = slices.Clone(owners)
		for i := range owners {
			if one, ok := owners[i].(map[string]any); ok {
				one = maps.Clone(one)
				delete(one, "time")
				owners[i] = one
			}
		}
		about["managedFields"] = owners
	}
	out := maps.Clone(u.Object)
	out["metadata"] = about
	return out
}

func (s *Server) update(q *request) (int, any, error) {
	u, err := decode(q.body)
	switch {
	case err != nil:
		return 0, nil, apierrors.NewBadRequest(err.Error())
	case u.GetName() != q.name:
		return 0, nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", u.GetName(), q.name))
	}
	return s.change(q, func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if u.GetResourceVersion() == "" && !q.native() {
			return nil, apierrors.NewInvalid(q.GroupKind(), q.name, field.ErrorList{
				field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
			})
		}
		return u.DeepCopy(), nil
	})
}

func (s *Server) patch(q *request) (int, any, error) {
	if kind := contentType(q.Request); kind == string(types.ApplyPatchType) || kind == "application/apply-patch+cbor" {
		return s.apply(q)
	}
	return s.change(q, func(before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		text, err := before.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if text, err = q.patched(text); err != nil {
			return nil, err
		}
		return decode(text)
	})
}

// patched is a document after the patch of the request.
func (q *request) patched(text []byte) ([]byte, error) {
	switch types.PatchType(contentType(q.Request)) {
	case types.JSONPatchType:
		return jsonPatched(text, q.body)
	case types.MergePatchType:
		out, err := jsonpatch.MergePatch(text, q.body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	case types.StrategicMergePatchType:
		if !q.native() {
			break
		}
		typed, err := scheme.Scheme.New(q.GroupVersionKind)
		if err != nil {
			return nil, err
		}
		out, err := strategicpatch.StrategicMergePatch(text, q.body, typed)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	}
	return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, q.Method, q.key().GroupResource(), q.name,
		"the body of the request was in an unknown format", 0, false)
}

func jsonPatched(text, patch []byte) ([]byte, error) {
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	out, err := p.Apply(text)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return out, nil
}

// apply is server-side apply.
func (s *Server) apply(q *request) (int, any, error) {
	text, err := yaml.YAMLToJSON(q.body)
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	wanted := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &wanted.Object); err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	if q.URL.Query().Get("fieldManager") == "" {
		return 0, nil, apierrors.NewInvalid(metav1.SchemeGroupVersion.WithKind("PatchOptions").GroupKind(), "", field.ErrorList{
			field.Required(field.NewPath("fieldManager"), "is required for apply patch"),
		})
	}
	m, err := s.owners.of(q.Resource, q.subresource)
	if err != nil {
		return 0, nil, err
	}
	force := q.URL.Query().Get("force") == "true"
	s.mu.Lock()
	have := s.stored(q)
	s.mu.Unlock()
	if have == nil {
		if wanted.GetUID() != "" {
			return 0, nil, q.conflict("uid mismatch: the provided object specified uid %s, and no existing object was found", wanted.GetUID())
		}
		empty := &unstructured.Unstructured{Object: map[string]any{}}
		empty.SetGroupVersionKind(q.GroupVersionKind)
		made, err := m.Apply(empty, wanted, q.manager(), force)
		if err != nil {
			return 0, nil, err
		}
		u := made.(*unstructured.Unstructured)
		u.SetName(q.name)
		out, err := s.add(q, u, wanted)
		return http.StatusCreated, out, err
	}
	return s.change(q, func(before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		merged, err := m.Apply(before, wanted, q.manager(), force)
		if err != nil {
			return nil, err
		}
		return merged.(*unstructured.Unstructured), nil
	})
}

// options reads the options of a deletion.
func (q *request) options() (*metav1.DeleteOptions, error) {
	o := &metav1.DeleteOptions{}
	if len(q.body) > 0 {
		u, err := decode(q.body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if how := metav1.DeletionPropagation(q.URL.Query().Get("propagationPolicy")); how != "" {
		o.PropagationPolicy = &how
	}
	q.dryRun = q.dryRun || len(o.DryRun) > 0
	return o, nil
}

func (s *Server) delete(q *request) (int, any, error) {
	o, err := q.options()
	if err != nil {
		return 0, nil, err
	}
	return s.deleteWith(q, o)
}

func (s *Server) deleteWith(q *request, o *metav1.DeleteOptions) (int, any, error) {
	s.mu.Lock()
	before := s.stored(q)
	s.mu.Unlock()
	if before == nil {
		return 0, nil, q.notFound()
	}
	if _, err := s.admit(q, admissionv1.Delete, before, nil); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before = s.stored(q); before == nil {
		return 0, nil, q.notFound()
	}
	if p := o.Preconditions; p != nil {
		switch {
		case p.UID != nil && *p.UID != before.GetUID():
			return 0, nil, q.conflict("Precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, before.GetUID())
		case p.ResourceVersion != nil && *p.ResourceVersion != before.GetResourceVersion():
			return 0, nil, q.conflict("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *p.ResourceVersion, before.GetResourceVersion())
		}
	}
	if q.dryRun {
		return http.StatusOK, before, nil
	}
	if left := s.end(q.Resource, before, o); left != nil || q.Kind == "Pod" {
		if left == nil {
			left = before
		}
		return http.StatusOK, left, nil
	}
	return http.StatusOK, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: q.name, Group: q.Group, Kind: q.Plural, UID: before.GetUID()},
	}, nil
}

// deleteAll deletes what is selected.
func (s *Server) deleteAll(q *request) (int, any, error) {
	o, err := q.options()
	if err != nil {
		return 0, nil, err
	}
	_, list, err := s.read(q)
	if err != nil {
		return 0, nil, err
	}
	items, _ := list.(*unstructured.Unstructured).Object["items"].([]any)
	for _, item := range items {
		u := unstructured.Unstructured{Object: item.(map[string]any)}
		one := *q
		one.name, one.namespace = u.GetName(), u.GetNamespace()
		if _, _, err := s.deleteWith(&one, o); err != nil && !apierrors.IsNotFound(err) {
			return 0, nil, err
		}
	}
	return http.StatusOK, list, nil
}

// evict deletes a pod if its budgets allow a disruption.
func (s *Server) evict(q *request) (int, any, error) {
	body, err := decode(q.body)
	if err != nil {
		return 0, nil, apierrors.NewBadRequest(err.Error())
	}
	o := &metav1.DeleteOptions{}
	if given, ok := body.Object["deleteOptions"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, o); err != nil {
			return 0, nil, apierrors.NewBadRequest(err.Error())
		}
		q.dryRun = q.dryRun || len(o.DryRun) > 0
	}
	if _, err := s.admit(q, admissionv1.Create, nil, body); err != nil {
		return 0, nil, err
	}
	if err := s.disrupt(q); err != nil {
		return 0, nil, err
	}
	q.subresource = ""
	if _, _, err := s.deleteWith(q, o); err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}

// disrupt takes one from the budgets of a pod.
func (s *Server) disrupt(q *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := s.stored(q)
	if pod == nil {
		return q.notFound()
	}
	budgets := s.resource(schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"})
	for _, u := range s.of(budgets).objects {
		selector := &metav1.LabelSelector{}
		raw, _, _ := unstructured.NestedMap(u.Object, "spec", "selector")
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, selector); err != nil {
			return err
		}
		selects, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || u.GetNamespace() != q.namespace || !selects.Matches(labels.Set(pod.GetLabels())) {
			continue
		}
		allowed, _, _ := unstructured.NestedInt64(u.Object, "status", "disruptionsAllowed")
		if allowed < 1 {
			err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
			err.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{
				Type: "DisruptionBudget", Message: fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", u.GetName()),
			}}}
			return err
		}
		if !q.dryRun {
			u = u.DeepCopy()
			_ = unstructured.SetNestedField(u.Object, allowed-1, "status", "disruptionsAllowed")
			s.put(budgets, u)
		}
	}
	return nil
}

// scale reads and writes the number of replicas.
func (s *Server) scale(q *request) (int, any, error) {
	if q.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		if u := s.stored(q); u != nil {
			return http.StatusOK, scaleOf(u), nil
		}
		return 0, nil, q.notFound()
	}
	q.subresource = ""
	code, body, err := s.change(q, func(before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		text, err := json.Marshal(scaleOf(before))
		if err != nil {
			return nil, err
		}
		if q.Method == http.MethodPut {
			text = q.body
		} else if text, err = q.patched(text); err != nil {
			return nil, err
		}
		u, err := decode(text)
		if err != nil {
			return nil, err
		}
		replicas, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
		before.SetResourceVersion(u.GetResourceVersion())
		return before, unstructured.SetNestedField(before.Object, replicas, "spec", "replicas")
	})
	if err != nil {
		return 0, nil, err
	}
	return code, scaleOf(body.(*unstructured.Unstructured)), nil
}

func scaleOf(u *unstructured.Unstructured) *autoscalingv1.Scale {
	spec, _, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
	now, _, _ := unstructured.NestedInt64(u.Object, "status", "replicas")
	out := &autoscalingv1.Scale{
		TypeMeta: metav1.TypeMeta{Kind: "Scale", APIVersion: "autoscaling/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), CreationTimestamp: u.GetCreationTimestamp(),
		},
		Spec: autoscalingv1.ScaleSpec{Replicas: int32(spec)}, Status: autoscalingv1.ScaleStatus{Replicas: int32(now)},
	}
	out.Status.Selector, _, _ = unstructured.NestedString(u.Object, "status", "labelSelector")
	if raw, found, _ := unstructured.NestedMap(u.Object, "spec", "selector"); found && out.Status.Selector == "" {
		selector := &metav1.LabelSelector{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(raw, selector) == nil {
			out.Status.Selector = metav1.FormatLabelSelector(selector)
		}
	}
	return out
}
