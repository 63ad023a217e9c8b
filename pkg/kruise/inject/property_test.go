package inject

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// TestInject_OfRandomPodsIsIdempotent makes sets and pods from a small stock of names, so that they
// meet in every way, and holds the second injection to the first, to the byte.
func TestInject_OfRandomPodsIsIdempotent(t *testing.T) {
	injected := 0
	for seed := range uint64(600) {
		d := dealer{rand.New(rand.NewPCG(seed, 0))}
		var sets []*Content
		for i := range 1 + d.IntN(3) {
			sets = append(sets, contentOf(t, fmt.Sprintf("set%d", i), d.spec(i)))
		}
		pod := parse(t, d.pod())
		first, err := Inject(pod, sets, Options{SortContainers: d.one()})
		if err != nil {
			continue
		}
		text := printed(t, first.Pod)
		again, err := Inject(parse(t, text), sets, Options{})
		if err != nil {
			t.Fatalf("seed %d: the second injection fails: %v\n%s", seed, err, text)
		}
		injected++
		if diff := cmp.Diff(text, printed(t, again.Pod)); diff != "" {
			t.Fatalf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
	if injected < 200 {
		t.Errorf("only %d of 600 deals were injected", injected)
	}
}

func printed(tb testing.TB, n *tree.Node) string {
	tb.Helper()
	b, err := yaml.Marshal(n)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// dealer draws parts of sets and pods. Names of sidecars and of the pod's
// containers differ: what a sidecar replaced cannot be seen again.
type dealer struct{ *rand.Rand }

func (d dealer) one() bool                   { return d.IntN(2) == 0 }
func (d dealer) of(options ...string) string { return options[d.IntN(len(options))] }

func (d dealer) spec(set int) string {
	s := fmt.Sprintf("{volumes: [{name: v0, emptyDir: {}}, {name: v1}], imagePullSecrets: [%s], patchPodMetadata: [{patchPolicy: %s, annotations: {%s: '%s'}}], containers: [",
		d.of("", "{name: s0}", "{name: s1}, {name: s0}"), d.of("Retain", "Overwrite", "MergePatchJson", "Append"),
		d.of("a", "b", "c"), d.of(`{"x": 1, "n": null}`, `{"y": {"z": null}}`, `{}`))
	for i := range d.IntN(3) {
		s += d.sidecar(fmt.Sprintf("side%d%d", set, i)) + ", "
	}
	s += "], initContainers: ["
	for i := range d.IntN(3) {
		s += d.sidecar(fmt.Sprintf("init%d%d", set, i)) + ", "
	}
	return s + "]}"
}

func (d dealer) sidecar(name string) string {
	return fmt.Sprintf("{name: %s, image: i, %s env: [%s], volumeMounts: [%s], shareVolumePolicy: {type: %s}, shareVolumeDevicePolicy: {type: %s}, transferEnv: [%s] %s %s}",
		name, d.of("", "podInjectPolicy: BeforeAppContainer,", "podInjectPolicy: AfterAppContainer,", "restartPolicy: Always,"),
		d.env(), d.mounts(), d.of("enabled", "disabled"), d.of("enabled", "disabled"),
		d.of("", "{sourceContainerName: app0, envNames: [E0, E1]}", "{sourceContainerName: side00, envName: E0}",
			"{sourceContainerNameFrom: {fieldRef: {fieldPath: \"metadata.annotations['a']\"}}, envName: E1}"),
		d.of("", ", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: 'e:1'}"),
		d.of("", "", ", resourcesPolicy: {targetContainersMode: max, resourcesExpr: {limits: {cpu: cpu*50%}, requests: {memory: memory+1Mi}}}"))
}

func (d dealer) env() string {
	return d.of("", "{name: E0, value: own}", "{name: IS_INJECTED, value: 'no'}", "{name: E0, value: $(E1)}, {name: E1, value: y}")
}

func (d dealer) mounts() string {
	return d.of("", "{name: v0, mountPath: /m0}", "{name: v1, mountPath: /m1, subPathExpr: $(E0)}", "{name: v0, mountPath: /m1}, {name: v1, mountPath: /m2}")
}

func (d dealer) pod() string {
	s := fmt.Sprintf("{metadata: {annotations: {%s}}, spec: {%s containers: [", d.of("", "a: app0", "b: '{\"x\": 2}'", "c: ''"),
		d.of("", "volumes: [{name: v0, hostPath: {path: /}}],", "imagePullSecrets: [{name: s0}, {name: s0}],"))
	for i := range 1 + d.IntN(2) {
		s += fmt.Sprintf("{name: app%d, env: [%s], volumeMounts: [%s], volumeDevices: [%s], resources: {%s}}, ", i, d.env(), d.mounts(),
			d.of("", "{name: d, devicePath: /m1}"), d.of("", "limits: {cpu: 1}", "requests: {memory: 1Gi}"))
	}
	return s + "]}}"
}
