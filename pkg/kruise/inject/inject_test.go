package inject

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// contentOf compiles a spec, given as the inside of a mapping.
func contentOf(tb testing.TB, name, spec string) *Content {
	tb.Helper()
	c, err := compileContent(name, "", parse(tb, spec))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// TestInject_IsIdempotent injects twice where that is not obvious.
func TestInject_IsIdempotent(t *testing.T) {
	for _, tt := range []struct {
		name, pod string
		specs     []string
	}{
		{
			name:  "a sidecar is no source for another one",
			pod:   `{spec: {containers: [{name: app, env: [{name: X, value: app}]}]}}`,
			specs: []string{`{containers: [{name: one, env: [{name: X, value: one}]}, {name: two, transferEnv: [{sourceContainerName: one, envName: X}]}]}`},
		},
		{
			name:  "nor are its mounts, though its first IS_INJECTED says no",
			pod:   `{spec: {containers: [{name: app, volumeMounts: [{name: a, mountPath: /a}]}]}}`,
			specs: []string{`{volumes: [{name: v}], containers: [{name: one, env: [{name: IS_INJECTED, value: "no"}], volumeMounts: [{name: v, mountPath: /v}]}, {name: two, shareVolumePolicy: {type: enabled}}]}`},
		},
		{
			name:  "the first merge keeps the patch as written",
			pod:   `{spec: {containers: [{name: app}]}}`,
			specs: []string{`{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: '{"a": 1, "b": null}'}}], containers: [{name: s}]}`},
		},
		{
			name: "two sets merge into one key",
			pod:  `{spec: {containers: [{name: app}]}}`,
			specs: []string{
				`{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: '{"x": 1, "b": null, "n": 9007199254740993}'}}], containers: [{name: s}]}`,
				`{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: '{"x": 2}'}}], containers: [{name: s2}]}`,
			},
		},
		{
			name:  "a patch that is not JSON",
			pod:   `{spec: {containers: [{name: app}]}}`,
			specs: []string{`{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: "not json"}}], containers: [{name: s}]}`},
		},
		{
			name:  "both of a hot-upgrade pair stay out of the sum",
			pod:   `{spec: {containers: [{name: app, resources: {limits: {cpu: 1}}}]}}`,
			specs: []string{`{containers: [{name: mesh, resources: {limits: {cpu: 2}}, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}, {name: sized, resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}}}}]}`},
		},
		{
			name:  "pull secrets of the ServiceAccount",
			pod:   `{spec: {containers: [{name: app}]}}`,
			specs: []string{`{imagePullSecrets: [{name: reg}], containers: [{name: s}]}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sets []*Content
			for i, spec := range tt.specs {
				sets = append(sets, contentOf(t, string(rune('a'+i)), spec))
			}
			opt := Options{PullSecrets: []*tree.Node{tree.Map("name", "sa")}}
			first, err := Inject(parse(t, tt.pod), sets, opt)
			if err != nil {
				t.Fatal(err)
			}
			second, err := Inject(first.Pod, sets, opt)
			if err != nil {
				t.Fatal(err)
			}
			if second.Pod != first.Pod {
				t.Errorf("second injection (-first +second):\n%s", cmp.Diff(tree.Value(first.Pod), tree.Value(second.Pod)))
			}
			if len(second.Replaced) > 0 {
				t.Errorf("the second injection says that it replaced %v", second.Replaced)
			}
		})
	}
}

func TestInject_RefusesMalformedPodsAndSets(t *testing.T) {
	for _, tt := range []struct{ name, pod, spec, want string }{
		{"no spec", `{metadata: {name: x}}`, `{containers: [{name: s}]}`, "no spec"},
		{"containers of another shape", `{spec: {containers: {a: b}}}`, `{containers: [{name: s}]}`, "want a list"},
		{"a container that is none", `{spec: {containers: [a]}}`, `{containers: [{name: s}]}`, "want a mapping"},
		{"metadata of another shape", `{metadata: [], spec: {}}`, `{containers: [{name: s}]}`, "want a mapping"},
		{"named like an init container", `{spec: {initContainers: [{name: s}]}}`, `{containers: [{name: s}]}`, `two containers named "s"`},
		{"no empty image", `{spec: {}}`, `{containers: [{name: s, upgradeStrategy: {upgradeType: HotUpgrade}}]}`, "hotUpgradeEmptyImage"},
		{"merge into what is not JSON", `{metadata: {annotations: {k: text}}, spec: {}}`, `{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: "{}"}}]}`, "Invalid JSON Document"},
		{"merge of what is not JSON", `{metadata: {annotations: {k: "{}"}}, spec: {}}`, `{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {k: text}}]}`, "Invalid JSON Patch"},
		{"a hash annotation of another kind", `{metadata: {annotations: {kruise.io/sidecarset-hash: "x"}}, spec: {}}`, `{}`, "kruise.io/sidecarset-hash"},
		{"a working annotation of another kind", `{metadata: {annotations: {kruise.io/sidecarset-working-hotupgrade-container: "[]"}}, spec: {}}`, `{containers: [{name: s, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}]}`, "working-hotupgrade"},
		{"no target for resources", `{spec: {containers: [{name: a}]}}`, `{containers: [{name: s, resourcesPolicy: {targetContainersMode: sum, targetContainersNameRegex: b, resourcesExpr: {}}}]}`, "no containers match"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Inject(parse(t, tt.pod), []*Content{contentOf(t, "set", tt.spec)}, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestInject_RefusesSameContainerOfTwoSets: both add the container, and the API server refuses it.
func TestInject_RefusesSameContainerOfTwoSets(t *testing.T) {
	a, b := contentOf(t, "a", `{containers: [{name: s}]}`), contentOf(t, "b", `{containers: [{name: s}]}`)
	if _, err := Inject(parse(t, `{spec: {containers: [{name: app}]}}`), []*Content{a, b}, Options{}); err == nil {
		t.Error("two containers of one name were injected")
	}
}

func TestOptions(t *testing.T) {
	got, err := Inject(parse(t, `{spec: {containers: [{name: app}]}}`), []*Content{contentOf(t, "set",
		`{imagePullSecrets: [{name: reg}], containers: [{name: s, resourcesPolicy: {targetContainersMode: sum, resourcesExpr: {limits: {cpu: cpu}, requests: {cpu: cpu}}}}]}`)},
		Options{
			PullSecrets: []*tree.Node{tree.Map("name", "sa"), tree.Map("name", "reg")},
			Limits:      map[string]resource.Quantity{"cpu": resource.MustParse("250m")},
			Requests:    map[string]resource.Quantity{"cpu": resource.MustParse("50m")},
		})
	if err != nil {
		t.Fatal(err)
	}
	want := tree.Value(parse(t, `{imagePullSecrets: [{name: sa}, {name: reg}], containers: [
		{name: s, env: [{name: IS_INJECTED, value: "true"}], resources: {limits: {cpu: 250m}, requests: {cpu: 50m}}}, {name: app}]}`))
	if diff := cmp.Diff(want, tree.Value(tree.Get(got.Pod, "spec"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInject_ListsPullSecretsOnce: the pod's own secrets are listed once, also when the
// sets have none.
func TestInject_ListsPullSecretsOnce(t *testing.T) {
	for spec, want := range map[string]string{
		`{containers: [{name: s}]}`: `[{name: b}, {name: a}]`,
		`{imagePullSecrets: [{name: a}, {name: reg}], containers: [{name: s}]}`: `[{name: b}, {name: a}, {name: reg}]`,
	} {
		pod := parse(t, `{spec: {imagePullSecrets: [{name: b}, {name: a}, {name: b}], containers: [{name: app}]}}`)
		got, err := Inject(pod, []*Content{contentOf(t, "set", spec)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tree.Value(parse(t, want)), tree.Value(tree.Get(got.Pod, "spec", "imagePullSecrets"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestInject_NeverWritesIntoSharedParts proves what speed rests on: pods share what does not depend on
// them, and nothing writes into it.
func TestInject_NeverWritesIntoSharedParts(t *testing.T) {
	set := contentOf(t, "set", `{volumes: [{name: v}], containers: [{name: fixed, volumeMounts: [{name: v, mountPath: /v}]}, {name: own, shareVolumePolicy: {type: enabled}}]}`)
	var pods []*tree.Node
	for _, path := range []string{"/a", "/b"} {
		got, err := Inject(parse(t, `{spec: {containers: [{name: app, volumeMounts: [{name: x, mountPath: `+path+`}]}]}}`), []*Content{set}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, got.Pod)
	}
	container := func(i, at int) *tree.Node { return tree.Get(pods[i], "spec", "containers").Content[at] }
	if container(0, 0) != container(1, 0) {
		t.Error("the fixed sidecar is not shared")
	}
	for i, path := range []string{"/a", "/b"} {
		mounts := tree.Items(tree.Get(container(i, 1), "volumeMounts"))
		if len(mounts) != 1 || tree.StrAt(mounts[0], "mountPath") != path {
			t.Errorf("pod %d: mounts %v, want %s", i, tree.Value(tree.Get(container(i, 1), "volumeMounts")), path)
		}
	}
}

func TestPullPolicy(t *testing.T) {
	for image, want := range map[string]string{
		"a": "Always", "a:latest": "Always", "a:1": "IfNotPresent", "r:5000/a": "Always", "r:5000/a:1": "IfNotPresent",
		"a@sha256:0": "IfNotPresent", "a:latest@sha256:0": "Always", "": "Always",
	} {
		if got := pullPolicy(image); got != want {
			t.Errorf("%q: %s, want %s", image, got, want)
		}
	}
}
