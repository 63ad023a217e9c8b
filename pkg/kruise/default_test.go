package kruise_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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
