package inspect

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

var getNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func readObject(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestGet_Columns: the texts of the columns, the wide ones after the bar.
func TestGet_Columns(t *testing.T) {
	const old = "metadata: {name: web, creationTimestamp: '2026-03-01T11:00:00Z', labels: {crr.apps.kruise.io/node-name: n1}}\n"
	for name, c := range map[string]struct{ group, kind, text, titles, want string }{
		"cloneset": {
			"apps.kruise.io", "CloneSet",
			"spec: {replicas: 3, selector: {matchLabels: {app: web}}, updateStrategy: {partition: 50%}, template: {spec: {containers: [{name: a, image: i:1}, {name: b, image: i:2}]}}}\nstatus: {replicas: 3, updatedReplicas: 1, readyReplicas: 2}",
			"DESIRED UPDATED UPDATED_READY UPDATED_AVAILABLE READY TOTAL AGE | PARTITION PAUSED SELECTOR CONTAINERS IMAGES",
			"3 1 0 0 2 3 60m | 50% <none> app=web a,b i:1,i:2",
		},
		"cloneset, newest": {
			"apps.kruise.io", "CloneSet", "spec: {updateStrategy: {rollingUpdate: {partition: 1, paused: true}}}",
			"DESIRED UPDATED UPDATED_READY UPDATED_AVAILABLE READY TOTAL AGE | PARTITION PAUSED SELECTOR CONTAINERS IMAGES",
			"<none> 0 0 0 0 0 60m | 1 true <none> <none> <none>",
		},
		"rollout":     {"rollouts.kruise.io", "Rollout", "spec: {workloadRef: {kind: CloneSet, name: web}, strategy: {canary: {}}}\nstatus: {phase: Progressing, message: \"a\\nb\", canaryStatus: {currentStepIndex: 2, currentStepState: StepPaused}}", "STATUS CANARY_STEP CANARY_STATE MESSAGE AGE | WORKLOAD STRATEGY", "Progressing 2 StepPaused a b 60m | cloneset/web Canary"},
		"blue-green":  {"rollouts.kruise.io", "Rollout", "spec: {strategy: {blueGreen: {}}}\nstatus: {blueGreenStatus: {currentStepIndex: 1, currentStepState: StepUpgrade}}", "STATUS CANARY_STEP CANARY_STATE MESSAGE AGE | WORKLOAD STRATEGY", "<none> 1 StepUpgrade <none> 60m | <none> BlueGreen"},
		"distributed": {"apps.kruise.io", "ResourceDistribution", "spec: {resource: {kind: Secret, metadata: {name: s}, data: {password: aHVudGVy}}}\nstatus: {desired: 2, succeeded: 2}", "TOTAL SUCCEED FAILED AGE | RESOURCE", "2 2 0 60m | secret/s"},
		"request":     {"apps.kruise.io", "ContainerRecreateRequest", "spec: {podName: web-0}\nstatus: {phase: Completed}", "PHASE POD NODE AGE | CONTAINERS", "Completed web-0 n1 60m | <none>"},
		"pull list":   {"apps.kruise.io", "ImageListPullJob", "spec: {images: [a, b]}", "TOTAL SUCCEEDED COMPLETED AGE | IMAGES", "0 0 0 60m | a,b"},
		"spread":      {"apps.kruise.io", "WorkloadSpread", "spec: {targetRef: {kind: CloneSet, name: web}, scheduleStrategy: {type: Adaptive}, subsets: [{name: a, maxReplicas: 2}, {name: b}]}\nstatus: {subsetStatuses: [{name: b, replicas: 3}, {name: a, replicas: 1}]}", "WORKLOADNAME WORKLOADKIND ADAPTIVE AGE SUBSETS", "web CloneSet Adaptive 60m a:1/2,b:3"},
		"new spread":  {"apps.kruise.io", "WorkloadSpread", "spec: {targetRef: {kind: CloneSet, name: web}, subsets: [{name: a, maxReplicas: 30%}]}", "WORKLOADNAME WORKLOADKIND ADAPTIVE AGE SUBSETS", "web CloneSet  60m a:0/30%"},
		"united":      {"apps.kruise.io", "UnitedDeployment", "spec: {replicas: 3, topology: {subsets: [{name: a, replicas: 1}, {name: b}]}}\nstatus: {replicas: 3, subsetStatuses: [{name: a, replicas: 1}, {name: b, replicas: 2}]}", "DESIRED CURRENT UPDATED READY AGE SUBSETS | SELECTOR", "3 3 0 0 60m a:1/1,b:2 | <none>"},
		"united, old": {"apps.kruise.io", "UnitedDeployment", "spec: {replicas: 3, topology: {subsets: [{name: a}, {name: b}]}}\nstatus: {replicas: 3, subsetReplicas: {a: 1, b: 2}}", "DESIRED CURRENT UPDATED READY AGE SUBSETS | SELECTOR", "3 3 0 0 60m a:1,b:2 | <none>"},
		"broken":      {"apps.kruise.io", "CloneSet", "spec: 3\nstatus: [1]", "DESIRED UPDATED UPDATED_READY UPDATED_AVAILABLE READY TOTAL AGE | PARTITION PAUSED SELECTOR CONTAINERS IMAGES", "<none> 0 0 0 0 0 60m | <none> <none> <none> <none> <none>"},
	} {
		t.Run(name, func(t *testing.T) {
			o := readObject(t, old+c.text)
			var titles, got []string
			bar := false
			for _, col := range tables[schema.GroupKind{Group: c.group, Kind: c.kind}] {
				if col.wide && !bar {
					bar = true
					titles, got = append(titles, "|"), append(got, "|")
				}
				titles, got = append(titles, col.title), append(got, col.show(o, getNow))
			}
			if diff := cmp.Diff(c.titles, strings.Join(titles, " ")) + cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGet_EveryKindHasColumns: no kind of Kruise is without columns, or left out of "all" by
// oversight.
func TestGet_EveryKindHasColumns(t *testing.T) {
	for _, k := range kruise.Kinds() {
		columns := tables[schema.GroupKind{Group: k.Group, Kind: k.Kind}]
		if len(columns) == 0 {
			t.Errorf("%s has no columns", k.Kind)
		}
		for _, c := range columns {
			if got := c.show(map[string]any{}, getNow); strings.Contains(got, "%!") {
				t.Errorf("%s %s of nothing: %q", k.Kind, c.title, got)
			}
		}
		all := strings.Contains(strings.Join(allTypes, ","), strings.ToLower(k.Kind)+"s."+k.Group)
		if perNode := strings.HasPrefix(k.Kind, "Node"); all == perNode {
			t.Errorf("%s in all: %v", k.Kind, all)
		}
	}
}

func tableOf(t *testing.T, object string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": map[string]any{"resourceVersion": "7"},
		"columnDefinitions": []any{map[string]any{"name": "Theirs"}},
		"rows":              []any{map[string]any{"cells": []any{"theirs"}, "object": readObject(t, object)}},
	}}
}

func TestRetitled_AddsColumnsToServerTables(t *testing.T) {
	columns := []column{{title: "READY", show: countCell("status.ready")}, {title: "IMAGE", wide: true, show: fieldCell("spec.image")}}
	whole := tableOf(t, "{apiVersion: v1, kind: X, metadata: {name: web}, spec: {image: i}, status: {ready: 2}}")
	got := withTitles(whole, columns, getNow).(*unstructured.Unstructured) //nolint:forcetypeassert // that is the test
	var table metav1.Table
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &table); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, d := range table.ColumnDefinitions {
		titles = append(titles, fmt.Sprint(d.Name, d.Priority))
	}
	if diff := cmp.Diff([]string{"NAME0", "READY0", "IMAGE1"}, titles) + cmp.Diff([]any{"web", "2", "i"}, table.Rows[0].Cells); diff != "" {
		t.Error(diff)
	}
	if table.ResourceVersion != "7" {
		t.Error("where to watch from is lost")
	}
	for _, same := range []runtime.Object{
		tableOf(t, "{apiVersion: meta.k8s.io/v1, kind: PartialObjectMetadata, metadata: {name: web}}"),
		&unstructured.Unstructured{Object: map[string]any{"kind": "Status"}},
	} {
		if withTitles(same, columns, getNow) != same {
			t.Errorf("changed: %v", same)
		}
	}
	event := &metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Object: whole}}
	told := withTitles(event, columns, getNow).(*metav1.WatchEvent) //nolint:forcetypeassert // that is the test
	if told.Type != "ADDED" || told.Object.Object == runtime.Object(whole) {
		t.Error("what is told of a change has not our columns")
	}
}

// TestDefectGet_SkipsKindsThatAreNotServed: the older plugin ended "all" at the first kind that the cluster
// did not have.
func TestDefectGet_SkipsKindsThatAreNotServed(t *testing.T) {
	lists := []*metav1.APIResourceList{
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "statefulsets", Verbs: []string{"list"}}}},
		{GroupVersion: "apps.kruise.io/v1beta1", APIResources: []metav1.APIResource{{Name: "sidecarsets", Verbs: []string{"list"}}, {Name: "clonesets", Verbs: []string{"list", "get"}}, {Name: "daemonsets", Verbs: []string{"get"}}}},
	}
	if diff := cmp.Diff([]string{"clonesets.apps.kruise.io", "sidecarsets.apps.kruise.io"}, servedTypes(lists)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"pods", "a", "b"}, expandAll("pods,all", []string{"a", "b"})); diff != "" {
		t.Error(diff)
	}
	if namesAllTypes([]string{"clonesets", "all"}) || !namesAllTypes([]string{"pods,all"}) || namesAllTypes(nil) {
		t.Error("all is a type")
	}
}

// asked is the last request of a transport.
type asked struct{ url string }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.url = r.URL.RequestURI()
	return nil, http.ErrAbortHandler
}

func TestWholeTables(t *testing.T) {
	for _, c := range []struct{ path, accept, want string }{
		{"/apis/apps.kruise.io/v1beta1/clonesets?limit=500", "application/json;as=Table;v=v1;g=meta.k8s.io", "/apis/apps.kruise.io/v1beta1/clonesets?includeObject=Object&limit=500"},
		{"/proxy/apis/rollouts.kruise.io/v1beta1/rollouts", "application/json;as=Table", "/proxy/apis/rollouts.kruise.io/v1beta1/rollouts?includeObject=Object"},
		{"/apis/apps.kruise.io/v1beta1/clonesets", "application/json", "/apis/apps.kruise.io/v1beta1/clonesets"},
		{"/apis/apps/v1/deployments", "application/json;as=Table", "/apis/apps/v1/deployments"},
		{"/api/v1/pods", "application/json;as=Table", "/api/v1/pods"},
	} {
		var last asked
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", c.accept)
		_, _ = wholeTables{&last}.RoundTrip(r) //nolint:bodyclose // there is no answer
		if last.url != c.want {
			t.Errorf("%s: asked for %s", c.path, last.url)
		}
		if r.URL.RequestURI() != c.path {
			t.Error("the caller's request was changed")
		}
	}
}
