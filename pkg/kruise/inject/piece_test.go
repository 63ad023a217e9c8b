package inject

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestPieces: the pieces are what [Inject] merges, in its order.
func TestPieces(t *testing.T) {
	c := contentOf(t, "set", `
initContainers:
- {name: z, image: i}
- {name: a, image: i, podInjectPolicy: BeforeAppContainer}
containers:
- name: mesh
  image: m
  upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}
  shareVolumePolicy: {type: enabled}
  transferEnv:
  - {sourceContainerName: app, envName: B, envNames: [A, B]}
  - {sourceContainerName: app, sourceContainerNameFrom: {fieldRef: {fieldPath: "metadata.labels['main']"}}, envName: C}
  - {sourceContainerNameFrom: {fieldRef: {fieldPath: metadata.name}}, envName: D}
- {name: back, image: b, podInjectPolicy: AfterAppContainer, shareVolumeDevicePolicy: {type: enabled}}
- {name: fixed, image: f}
`)
	copies := &Copies{Behind: 2, Mounts: true, Env: []EnvCopy{
		{Container: "app", Names: []string{"A", "B"}},
		{List: "labels", Key: "main", Names: []string{"C"}},
	}}
	type piece struct {
		Name, Sidecar string
		Front         bool
		Copies        *Copies
	}
	short := func(list []Piece) (out []piece) {
		for _, p := range list {
			if tree.StrAt(p.Node, "name") != p.Name {
				t.Errorf("%s is called %s", p.Name, tree.StrAt(p.Node, "name"))
			}
			out = append(out, piece{p.Name, p.Sidecar, p.Front, p.Copies})
		}
		return out
	}
	inits, containers := c.Pieces()
	if diff := cmp.Diff([]piece{{"a", "a", true, nil}, {"z", "z", false, nil}}, short(inits)); diff != "" {
		t.Error(diff)
	}
	want := []piece{
		{"mesh-1", "mesh", true, copies},
		{"mesh-2", "mesh", true, copies},
		{"back", "back", false, &Copies{Devices: true}},
		{"fixed", "fixed", true, nil},
	}
	if diff := cmp.Diff(want, short(containers)); diff != "" {
		t.Error(diff)
	}
}

func TestAlone(t *testing.T) {
	c := contentOf(t, "set", `{volumes: [{name: v}, {name: unused}], imagePullSecrets: [{name: s}], containers: [{name: side, volumeMounts: [{name: v, mountPath: /v}]}]}`)
	pod, err := c.Alone()
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `{metadata: {annotations: {kruise.io/sidecarset-injected-list: set}}, spec: {volumes: [{name: v}], imagePullSecrets: [{name: s}],
  containers: [{name: side, env: [{name: IS_INJECTED, value: "true"}], volumeMounts: [{name: v, mountPath: /v}]}]}}`)
	if !tree.Equal(pod, want) {
		t.Errorf("got %v", tree.Value(pod))
	}
	if _, err := contentOf(t, "set", `{containers: [{name: m, upgradeStrategy: {upgradeType: HotUpgrade}}]}`).Alone(); err == nil {
		t.Error("a pair without an empty image: want an error")
	}
}
