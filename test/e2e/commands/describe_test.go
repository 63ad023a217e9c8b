package commands

import (
	"regexp"
	"strings"
	"testing"
)

// TestDescribe_ShowsRelatedObjects: an object of Kruise with what belongs to it; native ones as kubectl
// describes them.
func TestDescribe_ShowsRelatedObjects(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+workload(kruiseV1, "StatefulSet", "db", "")+workload("apps/v1", "Deployment", "plain", "")+`
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: web}
spec: {maxUnavailable: 1, targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}}
---
apiVersion: policy.kruise.io/v1beta1
kind: PodUnavailableBudget
metadata: {name: astray}
spec: {maxUnavailable: 1, targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: missing}}
`)
	b.await(t, kruiseV1, "CloneSet", "web", ready)
	b.await(t, kruiseV1, "StatefulSet", "db", ready)
	pod := b.podsOf(t, "web")[0]
	got := b.call(t, "describe", "cloneset/web").ends(t, 0,
		"Name:              web\n", "Kind:              CloneSet\n", "Summary:           desired 3", "  Labels:  app=web", "registry.example.com/web:1\n",
		"Revisions:\n", "Pods:\n", pod, "Events:")
	if n := strings.Count(got.out, "1/1"); n != 3 {
		t.Errorf("%d pods are told:\n%s", n, got.out)
	}
	if !regexp.MustCompile(`(?m)^  1 +web-\S+ +3 `).MatchString(got.out) {
		t.Errorf("pods of the revision:\n%s", got.out)
	}
	b.call(t, "describe", "statefulsets.apps.kruise.io", "db").ends(t, 0, "Kind:              StatefulSet\n", "db-0", "db-2")
	b.call(t, "describe", "clone", "we").ends(t, 0, "Name:              web\n")
	b.call(t, "describe", "clone", "-l", "no=such").ends(t, 0, "No resources found")
	b.call(t, "describe", "pub", "web").ends(t, 0, pod, "maxUnavailable: 1")
	b.call(t, "describe", "pub", "astray").ends(t, 0, "Pods:              cannot be told: ", `"missing" not found`)
	b.call(t, "describe", "deploy", "plain").ends(t, 0, "StrategyType:", "NewReplicaSet:")
	b.call(t, "describe").ends(t, 2, "You must specify the type of resource to describe")
	b.call(t, "describe", "clone", "missing").ends(t, 1, `"missing" not found`)
	b.call(t, "describe", "nonsense", "x").ends(t, 1, "resource type")
}

// TestDescribe_HidesSecrets: neither describe nor get tells more of a Secret than kubectl
// does of one.
func TestDescribe_HidesSecrets(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.Apply(t, b.namespace, `
apiVersion: apps.kruise.io/v1beta1
kind: ResourceDistribution
metadata: {name: `+b.namespace+`-secret}
spec:
  resource: {apiVersion: v1, kind: Secret, metadata: {name: pass}, type: Opaque, data: {password: aHVudGVyMg==}}
  targets: {includedNamespaces: {list: [{name: `+b.namespace+`}]}}
`)
	for _, args := range [][]string{{"describe", "resourcedistribution", b.namespace + "-secret"}, {"get", "resourcedistribution", "-o", "wide"}, {"describe", "secret", "pass", "-A"}} {
		got := b.call(t, args...)
		if strings.Contains(got.out+got.err, "aHVudGVyMg") || strings.Contains(got.out+got.err, "hunter2") {
			t.Errorf("%q:\n%s%s", args, got.out, got.err)
		}
	}
	b.call(t, "describe", "resourcedistribution", b.namespace+"-secret").ends(t, 0, "password: 7 bytes")
}

// TestDescribe_RolloutInTheOlderLayout: a Rollout in the older plugin's layout.
func TestDescribe_RolloutInTheOlderLayout(t *testing.T) {
	t.Parallel()
	b := withRollouts(t)
	b.Apply(t, b.namespace, cloneSet("web", "")+`
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: web}
spec:
  workloadRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}
  strategy: {canary: {steps: [{replicas: 1, traffic: 20%}, {replicas: 100%}]}}
---
apiVersion: rollouts.kruise.io/v1alpha1
kind: Rollout
metadata: {name: astray}
spec: {objectRef: {workloadRef: {apiVersion: example.com/v1, kind: Nothing, name: web}}}
`)
	u := b.await(t, kruiseV1, "CloneSet", "web", ready)
	hash := at(u, "status.currentRevision")
	hash = hash[strings.LastIndex(hash, "-")+1:]
	b.stand(t, rolloutsV1, "Rollout", "web", map[string]any{
		"phase": "Progressing", "message": "waits", "observedGeneration": int64(1),
		"canaryStatus": map[string]any{"currentStepIndex": int64(1), "currentStepState": "StepPaused", "stableRevision": hash},
	})
	b.call(t, "describe", "rollout", "web").ends(t, 0,
		"Name:              web\n", "Status:            ⚠ Progressing\n", "Message:           waits\n", "Strategy:          Canary\n", " Step:             1/2\n",
		"  -  Replicas: 1\n     Traffic: 20%\n     State: StepPaused\n", "Images:            registry.example.com/web:1\n", "Replicas:\n Desired:          3\n")
	all := b.call(t, "describe", "ro", "web", "--all").ends(t, 0, "NAME", "BATCH ID", b.podsOf(t, "web")[0])
	if strings.Contains(all.out, "\x1b") {
		t.Error("colour in a pipe")
	}
	b.call(t, "describe", "rollouts.rollouts.kruise.io/web").ends(t, 0, " Step:             1/2\n")
	b.terminal(t, "", "describe", "rollout", "web").ends(t, 0, "\x1b[32m     State: StepPaused")
	if plain := b.terminal(t, "", "describe", "rollout", "web", "--no-color").ends(t, 0, "State: StepPaused"); strings.Contains(plain.out, "\x1b") {
		t.Errorf("colour: %q", plain.out)
	}
	b.call(t, "describe", "rollout", "web", "-w", "--timeout", "10").ends(t, 4, " Step:             1/2\n", "context deadline exceeded")
	b.call(t, "describe", "rollout", "astray").ends(t, 0, "cannot be read")
	b.call(t, "describe", "rollout", "missing").ends(t, 1, `rollouts.rollouts.kruise.io "missing" not found`)
	b.call(t, "describe", "rollout").ends(t, 2)
	b.call(t, "describe", "rollout", "web", "--timeout", "x").ends(t, 2, "--timeout")
}
