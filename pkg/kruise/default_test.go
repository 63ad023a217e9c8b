package kruise_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/internal/conformance"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestDefaultEqualsStored holds our defaults against every object of the lint
// cases that the real cluster took.
func TestDefaultEqualsStored(t *testing.T) {
	compared := 0
	for _, c := range conformance.List(t, "lint") {
		if !c.Has("stored.yaml") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			ours, kind := decoded(t, c, "object.yaml")
			if ours == nil || kind == "ContainerRecreateRequest" {
				t.Skip("no kind of Kruise, or filled in from the pod")
			}
			compared++
			kruise.Default(ours)
			stored, _ := decoded(t, c, "stored.yaml")
			if s, ok := stored.(*kruise.StatefulSet); ok && s.APIVersion == "apps.kruise.io/v1beta1" && s.Spec.PersistentVolumeClaimRetentionPolicy == nil {
				ours.(*kruise.StatefulSet).Spec.PersistentVolumeClaimRetentionPolicy = nil // read back as v1alpha1, which lacks it
			}
			if diff := cmp.Diff(said(t, stored), said(t, ours)); diff != "" {
				t.Errorf("-stored +ours:\n%s", diff)
			}
		})
	}
	if compared < 50 {
		t.Errorf("only %d objects were compared", compared)
	}
}

func decoded(t *testing.T, c conformance.Case, file string) (obj any, kind string) {
	t.Helper()
	n, err := object(c, file)
	if err != nil {
		t.Fatal(err)
	}
	kind = tree.StrAt(n, "kind")
	if objects[kind] == nil || tree.StrAt(n, "apiVersion") == "apps/v1" {
		return nil, kind
	}
	obj = reflect.New(reflect.TypeOf(objects[kind])).Interface()
	if unknown, err := kruise.Decode(n, obj); err != nil || len(unknown) > 0 {
		t.Fatal(unknown, err)
	}
	return obj, kind
}

// podDefaults are the keys that Kubernetes fills into pods and claims.
var podDefaults = []string{
	"dnsPolicy", "restartPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds",
	"terminationMessagePath", "terminationMessagePolicy", "protocol", "phase", "defaultMode", "volumeMode",
	"failureThreshold", "periodSeconds", "successThreshold", "timeoutSeconds", "scheme",
	"annotations", "finalizers", // the webhooks' hashes and their bookkeeping
}

// said is the object as plain values without what Kubernetes fills in.
func said(t *testing.T, obj any) any {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	delete(v, "apiVersion")
	delete(v, "status")
	return without(v)
}

func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			item = without(item)
			v[key] = item
			if m, ok := item.(map[string]any); item == nil || ok && len(m) == 0 || slices.Contains(podDefaults, key) {
				delete(v, key)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}

func TestDefaultFields(t *testing.T) {
	for _, c := range []struct {
		name, in string
		path     []string
		want     string
	}{
		{"an OnDelete CloneSet gets no rollingUpdate", "{kind: CloneSet, spec: {updateStrategy: {type: OnDelete}}}", []string{"spec", "updateStrategy"}, "{type: OnDelete}"},
		{"a CloneSet keeps what it says", "{kind: CloneSet, spec: {replicas: 0, updateStrategy: {rollingUpdate: {maxUnavailable: 3}}}}", []string{"spec", "updateStrategy"}, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 3, maxSurge: 0, partition: 0, podUpdatePolicy: ReCreate}}`},
		{"replicas 0 stays", "{kind: CloneSet, spec: {replicas: 0}}", []string{"spec", "replicas"}, "0"},
		{"fixed subsets get no minimum", "{kind: UnitedDeployment, spec: {topology: {subsets: [{name: a, replicas: 1}, {name: b}]}}}", []string{"spec", "topology", "subsets"}, "[{name: a, replicas: 1}, {name: b}]"},
		{"elastic subsets do", "{kind: UnitedDeployment, spec: {topology: {subsets: [{name: a, maxReplicas: 50%}, {name: b}]}}}", []string{"spec", "topology", "subsets"}, "[{name: a, maxReplicas: 50%, minReplicas: 0}, {name: b, minReplicas: 0}]"},
		{"a revision needs a policy", "{kind: SidecarSet, spec: {injectionStrategy: {revision: {customVersion: a}}}}", []string{"spec", "injectionStrategy"}, "{revision: {customVersion: a, policy: Always}}"},
		{"a surging DaemonSet has no maxUnavailable", "{kind: DaemonSet, spec: {updateStrategy: {rollingUpdate: {maxSurge: 1}}}}", []string{"spec", "updateStrategy", "rollingUpdate"}, "{maxSurge: 1, rollingUpdateType: Standard}"},
		{"image lists replace", "{kind: AdvancedCronJob, spec: {schedule: '@daily', template: {imageListPullJobTemplate: {}}}}", []string{"spec", "concurrencyPolicy"}, "Replace"},
		{"a request fails", "{kind: ContainerRecreateRequest, spec: {podName: a}}", []string{"spec", "strategy"}, "{failurePolicy: Fail}"},
		{"a ResourceDistribution has no defaults", "{kind: ResourceDistribution, spec: {resource: {}, targets: {}}}", []string{"spec", "targets"}, "{}"},
	} {
		n := parse(t, c.in)
		obj := reflect.New(reflect.TypeOf(objects[tree.StrAt(n, "kind")])).Interface()
		if _, err := kruise.Decode(n, obj); err != nil {
			t.Fatal(c.name, err)
		}
		kruise.Default(obj)
		got := tree.Value(tree.Get(tree.FromValue(obj), c.path...))
		if diff := cmp.Diff(tree.Value(parse(t, c.want)), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestPullPolicyFollowsTheTag(t *testing.T) {
	for image, want := range map[string]string{
		"a": "Always", "a:latest": "Always", "r:5000/a": "Always", "r:5000/a:1": "IfNotPresent",
		"a:1": "IfNotPresent", "a@sha256:0": "IfNotPresent", "a:latest@sha256:0": "Always", "": "Always",
	} {
		var s kruise.SidecarSet
		if _, err := kruise.Decode(parse(t, fmt.Sprintf("{kind: SidecarSet, spec: {containers: [{name: a, image: %q}]}}", image)), &s); err != nil {
			t.Fatal(err)
		}
		kruise.Default(&s)
		if got := string(s.Spec.Containers[0].ImagePullPolicy); got != want {
			t.Errorf("%q: %s, want %s", image, got, want)
		}
	}
}

// Default must not touch what it does not know.
func TestDefaultOfOthers(t *testing.T) {
	kruise.Default(nil)
	s := "text"
	kruise.Default(&s)
	if s != "text" {
		t.Error(s)
	}
}
