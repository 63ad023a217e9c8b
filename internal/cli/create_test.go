package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// nowhere has every look at a cluster fail.
func nowhere(t *testing.T) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
}

// created is the manifest that create prints without a cluster.
func created(t *testing.T, args ...string) string {
	t.Helper()
	line := append([]string{"create"}, args...)
	at := len(line)
	for i, arg := range line {
		if arg == "--" {
			at = i
			break
		}
	}
	line = append(append(append([]string{}, line[:at]...), "--dry-run=client", "-o", "yaml"), line[at:]...)
	code, out, said := call(t.Context(), t, "", line...)
	if code != 0 || said != "" {
		t.Fatalf("%q: exit %d\n%s", line, code, said)
	}
	return out
}

// spec is the spec of a manifest.
func spec(t *testing.T, manifest string) map[string]any {
	t.Helper()
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(manifest), &o); err != nil {
		t.Fatal(err)
	}
	return o.Spec
}

type m = map[string]any

func named(names ...string) []any {
	var out []any
	for _, n := range names {
		out = append(out, m{"name": n})
	}
	return out
}

func TestDefectRecreate_KeepsContainers(t *testing.T) {
	nowhere(t)
	got := spec(t, created(t, "ContainerRecreateRequest", "r", "-p", "web-0", "--containers", "app,log"))
	if diff := cmp.Diff(named("app", "log"), got["containers"]); diff != "" {
		t.Error(diff)
	}
}

func TestDefectRecreate_KeepsGracePeriods(t *testing.T) {
	nowhere(t)
	for _, flags := range [][]string{
		{"-u", "10", "-m", "20"},
		{"--unreadyGracePeriodSeconds", "10", "--minStartedSeconds=20"},
		{"--unready-grace-period-seconds=10", "--min-started-seconds=20"},
	} {
		got := spec(t, created(t, append([]string{"crr", "r", "-p", "web-0", "--containers", "app", "--terminationGracePeriodSeconds", "7"}, flags...)...))
		want := m{"failurePolicy": "Fail", "unreadyGracePeriodSeconds": 10.0, "minStartedSeconds": 20.0, "terminationGracePeriodSeconds": 7.0}
		if diff := cmp.Diff(want, got["strategy"]); diff != "" {
			t.Errorf("%q: %s", flags, diff)
		}
	}
}

// TestCreateRecreateRequest_HasTheDefaultsOfTheOlderPlugin: the older plugin's.
func TestCreateRecreateRequest_HasTheDefaultsOfTheOlderPlugin(t *testing.T) {
	nowhere(t)
	got := spec(t, created(t, "crr", "r", "-p", "web-0", "--containers", "app"))
	want := m{
		"podName": "web-0", "containers": named("app"), "activeDeadlineSeconds": 300.0, "ttlSecondsAfterFinished": 1800.0,
		"strategy": m{"failurePolicy": "Fail", "unreadyGracePeriodSeconds": 3.0, "minStartedSeconds": 3.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefectBroadcastJob_HasKruisesGroup(t *testing.T) {
	nowhere(t)
	for _, name := range []string{"broadcastJob", "BroadcastJob", "broadcastjob", "bcj"} {
		code, out, said := call(t.Context(), t, "", "create", name, "b", "--image", "x:1", "--dry-run")
		if code != 0 || out != "broadcastjob.apps.kruise.io/b created (dry run)\n" {
			t.Errorf("%s: exit %d\n%s%s", name, code, out, said)
		}
	}
}

// everyKind are command lines of all kinds, with what they came to be.
var everyKind = map[string]struct {
	args []string
	spec m
}{
	"job": {
		[]string{"job", "j", "--image", "x:1", "--backoff-limit", "2", "--restart-policy", "OnFailure", "--", "run", "--fast"},
		m{"backoffLimit": 2.0, "template": m{"spec": m{"restartPolicy": "OnFailure", "containers": []any{m{"name": "j", "image": "x:1", "command": []any{"run", "--fast"}}}}}},
	},
	"broadcastjob": {
		[]string{"bcj", "j", "--image", "x:1", "--parallelism", "20%", "--failure-policy", "Continue", "--ttl-seconds-after-finished", "60"},
		m{
			"parallelism": "20%", "failurePolicy": m{"type": "Continue"}, "completionPolicy": m{"ttlSecondsAfterFinished": 60.0},
			"template": m{"spec": m{"restartPolicy": "Never", "containers": []any{m{"name": "j", "image": "x:1"}}}},
		},
	},
	"imagepulljob": {
		[]string{"ipj", "j", "--image", "x:1", "--node-names", "a,b", "--pull-secrets", "s", "--timeout-seconds", "9"},
		m{"image": "x:1", "selector": m{"names": []any{"a", "b"}}, "pullSecrets": []any{"s"}, "pullPolicy": m{"timeoutSeconds": 9.0}, "completionPolicy": m{"type": "Always"}},
	},
	"imagelistpulljob": {
		[]string{"ilpj", "j", "--images", "x:1,y:2", "--pod-selector", "app=web"},
		m{"images": []any{"x:1", "y:2"}, "podSelector": m{"matchLabels": m{"app": "web"}}, "completionPolicy": m{"type": "Always"}},
	},
	"sidecarset": {
		[]string{
			"sidecarset", "s", "-l", "app in (a,b)", "--container", "p=x:1", "--inject-policy", "AfterAppContainer", "--partition", "50%",
			"--set", "spec.containers[0].env[0].name=A", "--set", "spec.containers[0].env[0].value=\"1\"",
		},
		m{
			"selector":       m{"matchExpressions": []any{m{"key": "app", "operator": "In", "values": []any{"a", "b"}}}},
			"containers":     []any{m{"name": "p", "image": "x:1", "podInjectPolicy": "AfterAppContainer", "env": []any{m{"name": "A", "value": "1"}}}},
			"updateStrategy": m{"partition": "50%"},
		},
	},
	"podunavailablebudget": {
		[]string{"pub", "p", "--target", "asts/db", "--min-available", "80%", "--protect-operations", "EVICT"},
		m{"targetRef": m{"apiVersion": "apps.kruise.io/v1beta1", "kind": "StatefulSet", "name": "db"}, "minAvailable": "80%"}, // v1alpha1, which every release serves, has the operations in an annotation
	},
	"resourcedistribution": {
		[]string{"rd", "r", "--configmap", "c", "--from-literal", "a=b", "--include", "x,y", "--namespace-selector", "team=shop"},
		m{
			"resource": m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "c"}, "data": m{"a": "b"}},
			"targets":  m{"includedNamespaces": m{"list": named("x", "y")}, "namespaceLabelSelector": m{"matchLabels": m{"team": "shop"}}},
		},
	},
}

// TestCreate_WithoutAClusterPassesLint: without a cluster each kind becomes a manifest that our own lint
// lets through.
func TestCreate_WithoutAClusterPassesLint(t *testing.T) {
	nowhere(t)
	for kind, c := range everyKind {
		t.Run(kind, func(t *testing.T) {
			manifest := created(t, c.args...)
			if diff := cmp.Diff(c.spec, spec(t, manifest)); diff != "" {
				t.Error(diff)
			}
			if code, out, said := call(t.Context(), t, manifest, "lint", "-f", "-"); code != 0 {
				t.Errorf("lint: exit %d\n%s%s", code, out, said)
			}
		})
	}
}

// TestCreate_WritesAnOlderVersion: a manifest for a cluster with an older Kruise.
func TestCreate_WritesAnOlderVersion(t *testing.T) {
	nowhere(t)
	out := created(t, "pub", "p", "--selector", "app=web", "--max-unavailable", "1", "--protect-operations", "EVICT", "--api-version", "v1alpha1")
	if !strings.Contains(out, "kruise.io/pub-protect-operations: EVICT") || !strings.Contains(out, "apiVersion: policy.kruise.io/v1alpha1") {
		t.Error(out)
	}
	code, _, said := call(t.Context(), t, "", "create", "pub", "p", "--selector", "app=web", "--max-unavailable", "1", "--ignored-pod-selector", "a=b", "--api-version", "v1alpha1", "--dry-run=client")
	if code != 1 || !strings.Contains(said, "spec.ignoredPodSelector does not exist in v1alpha1") {
		t.Errorf("exit %d\n%s", code, said)
	}
}

func TestCreate_Refuses(t *testing.T) {
	nowhere(t)
	for line, want := range map[string]string{
		"create":                                  "2 error: must specify one of -f and -k",
		"create nonsense x":                       `2 error: unknown kind "nonsense"`,
		"create crr":                              "2 error: exactly one NAME is required, got 0",
		"create crr a b":                          "2 error: exactly one NAME is required, got 2",
		"create crr a":                            "2 error: the pod is not named",
		"create crr a -p b -- x":                  "2 error: a ContainerRecreateRequest takes no command",
		"create crr a -p b -u x":                  "2 error: invalid argument \"x\" for \"-u, --unready-grace-period-seconds\" flag: not a whole number",
		"create job a":                            "2 error: either --image or --from must be specified",
		"create bcj a --image x --from acj/y":     "2 error: either --image or --from must be specified",
		"create job a --from acj/y -- z":          "2 error: cannot specify --from and command",
		"create ilpj a --images x:1 --from acj/y": "2 error: either --images or --from must be specified",
		"create ilpj a --images x:1 --dry-run=client -- y":             "2 error: an ImageListPullJob takes no command",
		"create ipj a --dry-run=client":                                "1 error: ImagePullJob a: spec.image",
		"create ipj a --image x:1 --parallelism 5% --dry-run=client":   "1 error: ImagePullJob a: spec.parallelism",
		"create sidecarset a --dry-run=client":                         "1 error: SidecarSet a: spec.selector",
		"create sidecarset a --set spec.nonsense=1 --dry-run=client":   "2 error: SidecarSet has no field spec.nonsense",
		"create sidecarset a --set spec.containers=1 --dry-run=client": "2 error: ",
		"create pub a --target web --dry-run=client":                   `2 error: "web" is not TYPE/NAME`,
		"create rd a --from-literal a=b":                               "2 error: either --configmap or --secret must be specified",
		"create rd a --configmap c --type Opaque":                      "2 error: --type is for Secrets",
		"create rd a --secret s --from-file /nonexistent -A":           "1 error: ",
		"create pub a --dry-run=sometimes":                             "2 error: --dry-run: ",
		"create pub a --dry-run=client -o nonsense":                    "2 error: ",
		"create pub a --api-version v2 --dry-run=client":               "2 error: --api-version: unknown value",
		"create pub a --max-unavailable 1 --selector a=b":              "1 error: ",
		"distribute":             "2 error: one Secret or ConfigMap is wanted",
		"distribute a":           "2 error: one Secret or ConfigMap is wanted",
		"distribute secret/a -A": "1 error: ",
	} {
		code, out, said := call(t.Context(), t, "", strings.Fields(line)...)
		exit, text, _ := strings.Cut(want, " ")
		if exit != string(rune('0'+code)) || !strings.HasPrefix(said, text) || out != "" {
			t.Errorf("%s: exit %d, want %q\n%s%s", line, code, want, out, said)
		}
	}
}

// TestCreate_ShowsSecretValuesOnlyOnRequest: values are shown by the output that was asked for alone.
func TestCreate_ShowsSecretValuesOnlyOnRequest(t *testing.T) {
	nowhere(t)
	env := filepath.Join(t.TempDir(), "x.env")
	if err := os.WriteFile(env, []byte("A=hunter2\nA=hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--from-literal", "password=hunter2"},
		{"--from-literal", "password=hunter2", "--from-literal", "password=hunter2"},
		{"--from-literal", "=hunter2"},
		{"--from-literal", "bad key=hunter2"},
		{"--from-env-file", env},
		{"--from-literal", "password=hunter2", "--type", "kubernetes.io/tls"},
	} {
		_, out, said := call(t.Context(), t, "", append([]string{"create", "rd", "r", "--secret", "s", "-A", "--dry-run=client"}, args...)...)
		if strings.Contains(out+said, "hunter2") || strings.Contains(out+said, "aHVudGVyMg") {
			t.Errorf("%q: %s%s", args, out, said)
		}
	}
}

// TestCreate_WritesAVersionThatTheReleaseServes: what is made without a cluster is in a version that the release
// serves.
func TestCreate_WritesAVersionThatTheReleaseServes(t *testing.T) {
	for line, want := range map[string]string{
		"create pub p --selector app=web --max-unavailable 1":                                            "0 policy.kruise.io/v1alpha1",
		"create pub p --selector app=web --max-unavailable 1 --kruise-version next":                      "0 policy.kruise.io/v1beta1",
		"create sidecarset s -l app=web --container p=x:1":                                               "0 apps.kruise.io/v1beta1",
		"create sidecarset s -l app=web --container p=x:1 --kruise-version 1.8":                          "0 apps.kruise.io/v1alpha1",
		"create pub p --selector app=web --max-unavailable 1 --api-version v1beta1 --kruise-version 1.9": "1 error: Kruise 1.9 does not serve PodUnavailableBudget as v1beta1",
		"create ilpj j --images x:1 --kruise-version 1.4":                                                "1 error: Kruise 1.4 has no ImageListPullJob",
		"create ipj j --image x:1 --image-pull-policy Always --kruise-version 1.5":                       "1 error: spec.imagePullPolicy: since Kruise 1.6",
		"create pub p --selector app=web --max-unavailable 1 --ignored-pod-selector a=b":                 "1 error: spec.ignoredPodSelector does not exist in v1alpha1",
		"create pub p --selector app=web --max-unavailable 1 --kruise-version 2.1":                       "2 error: --kruise-version",
	} {
		code, out, said := call(t.Context(), t, "", append(strings.Fields(line), "--dry-run=client", "-o", "yaml")...)
		if code != 0 {
			out = said
		}
		start, text, _ := strings.Cut(want, " ")
		if fmt.Sprint(code) != start || !strings.Contains(out, text) {
			t.Errorf("%s: %d %s%s, want %s", line, code, out, said, want)
		}
	}
}
