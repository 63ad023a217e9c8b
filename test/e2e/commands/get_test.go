package commands

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// cells are the words of a line.
func cells(out string, line int) []string {
	lines := strings.Split(out, "\n")
	if line >= len(lines) {
		return nil
	}
	return strings.Fields(lines[line])
}

// TestGet_HasColumnsForEachPrinter: columns of this program, in every spelling of a type, with every printer.
func TestGet_HasColumnsForEachPrinter(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload("apps/v1", "Deployment", "plain", ""))
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	for _, args := range [][]string{
		{"cloneset"},
		{"clonesets", "web"},
		{"clone", "-l", "nothing!=x"},
		{"clonesets.apps.kruise.io"},
		{"clonesets.v1alpha1.apps.kruise.io", "web"},
		{"cloneset/web"},
		{"clone.apps.kruise.io/web"},
	} {
		got := b.call(t, append([]string{"get"}, args...)...).ends(t, 0)
		if title := strings.Join(cells(got.out, 0), " "); title != "NAME DESIRED UPDATED UPDATED_READY UPDATED_AVAILABLE READY TOTAL AGE" {
			t.Errorf("%q: %s", args, got.out)
		}
		if row := cells(got.out, 1); len(row) != 8 || strings.Join(row[:2], " ") != "web 3" || row[5] != "3" || !regexp.MustCompile(`^\d+[smh]`).MatchString(row[7]) {
			t.Errorf("%q: %s", args, got.out)
		}
	}
	wide := b.call(t, "get", "clone", "-o", "wide", "--no-headers").ends(t, 0)
	if row := cells(wide.out, 0); len(row) != 13 || row[12] != "registry.example.com/web:1" || row[10] != "app=web" {
		t.Errorf("%s", wide.out)
	}
	b.call(t, "get", "clone", "-o", "name").prints(t, "cloneset.apps.kruise.io/web")
	b.call(t, "get", "clone/web", "-o", "jsonpath={.spec.replicas}{\"\\n\"}").prints(t, "3")
	b.call(t, "get", "clone", "-o", "custom-columns=N:.metadata.name").prints(t, "N", "web")
	b.call(t, "get", "clone", "--sort-by=.metadata.name", "-L", "app", "--show-labels").ends(t, 0, "UPDATED_READY", "APP", "LABELS")
	b.call(t, "get", "clone", "-A").ends(t, 0, "NAMESPACE", b.namespace)
	var list struct{ Items []any }
	must(t, json.Unmarshal([]byte(b.call(t, "get", "clone,deploy", "-o", "json").ends(t, 0).out), &list))
	if len(list.Items) != 2 {
		t.Errorf("%d objects", len(list.Items))
	}
	b.call(t, "get", "clone,deploy").ends(t, 0, "cloneset.apps.kruise.io/web", "deployment.apps/plain", "UP-TO-DATE")
	b.call(t, "get", "deploy").ends(t, 0, "UP-TO-DATE")
	b.terminal(t, "", "get", "clone").ends(t, 0, "UPDATED_AVAILABLE")
}

// TestGet_RefusesWrongCalls: what cannot be is said, with the exit code.
func TestGet_RefusesWrongCalls(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.call(t, "get").ends(t, 2, "error: Required resource not specified", "hint: ")
	b.call(t, "get", "clone", "missing").ends(t, 1, `"missing" not found`)
	b.call(t, "get", "nonsense").ends(t, 1, `the server doesn't have a resource type "nonsense"`)
	b.call(t, "get", "clone", "-o", "xml").ends(t, 1, `"xml"`)
	b.call(t, "get", "all", "web").ends(t, 2, "all means many types")
	b.call(t, "get", "all", "-w").ends(t, 2, "one type at a time")
	b.call(t, "get", "clone", "--nonsense").ends(t, 2, "unknown flag")
	b.call(t, "get", "clone").ends(t, 0, "No resources found in "+b.namespace+" namespace.")
}

// TestDefectGetAll_SkipsMissingKinds: -n counts, kinds that the cluster has not are passed over, and every
// type that is spelled in another way is shown.
func TestDefectGetAll_SkipsMissingKinds(t *testing.T) {
	t.Parallel()
	b := withRollouts(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+`
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: `+b.namespace+`}
spec:
  resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: cm}, data: {a: b}}
  targets: {includedNamespaces: {list: [{name: `+b.namespace+`}]}}
---
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec: {strategy: {blueGreen: {steps: [{replicas: 100%}]}}}
`)
	b.stand(t, rolloutsV1, "Rollout", "web", map[string]any{"phase": "Progressing", "blueGreenStatus": map[string]any{"currentStepIndex": int64(1), "currentStepState": "StepPaused"}})
	got := b.call(t, "get", "all").ends(t, 0, "\nclonesets.apps.kruise.io:\nNAME", "\nrollouts.rollouts.kruise.io:\nNAME", "\nresourcedistributions.apps.kruise.io:\n")
	if strings.Contains(got.out, "statefulsets") || !strings.HasPrefix(got.out, "\nclonesets.apps.kruise.io:\n") {
		t.Errorf("%s", got.out)
	}
	if !regexp.MustCompile(`(?m)^web +Progressing +1 +StepPaused`).MatchString(got.out) {
		t.Errorf("blue-green: %s", got.out)
	}
	b.call(t, "get", "all", "-o", "name").ends(t, 0, "cloneset.apps.kruise.io/web\n", "rollout.rollouts.kruise.io/web\n")
	other := b.call(t, "get", "all", "-n", b.namespace+"-no").ends(t, 0)
	if strings.Contains(other.out, "clonesets") {
		t.Errorf("of another namespace: %s", other.out)
	}
	b.call(t, "get", "all", "-l", "no=such").ends(t, 0, "No resources found in "+b.namespace+" namespace.")
}

// TestDefectGetWatch_PrintsChanges: a change is told as it comes, with our columns.
func TestDefectGetWatch_PrintsChanges(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", ""))
	u := b.await(t, kruiseV1, "CloneSet", "web", ready)
	cmd := b.command(t, "get", "cloneset", "web", "-w")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	scaled := false
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) > 1 && words[1] == "1" {
			break
		}
		if len(words) > 1 && words[1] == "3" && !scaled {
			scaled = true
			client, err := b.Resource(u, b.namespace)
			must(t, err)
			_, err = client.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec": {"replicas": 1}}`), metav1.PatchOptions{})
			must(t, err)
		}
	}
	if !scaled || lines.Err() != nil || !strings.HasPrefix(lines.Text(), "web ") {
		t.Errorf("%v: the last line is %q", lines.Err(), lines.Text())
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}
