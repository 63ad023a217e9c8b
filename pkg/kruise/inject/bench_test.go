package inject

import (
	"fmt"
	"testing"
)

// BenchmarkInject is one template that twenty sets match: sixteen whose
// sidecars are the same everywhere, four that look at the pod.
func BenchmarkInject(b *testing.B) {
	var sets []*Set
	for i := range 20 {
		extra := ""
		if i%5 == 0 {
			extra = ", shareVolumePolicy: {type: enabled}, transferEnv: [{sourceContainerName: app, envName: A}]"
		}
		sets = append(sets, setOf(b, fmt.Sprintf("set%02d", i), fmt.Sprintf(`{selector: {matchLabels: {app: web}},
			volumes: [{name: v%d, emptyDir: {}}], containers: [{name: side%d, image: "side:1", volumeMounts: [{name: v%d, mountPath: /v}]%s}]}`, i, i, i, extra)))
	}
	Order(sets)
	pod := parse(b, `{metadata: {labels: {app: web}}, spec: {volumes: [{name: d}], containers: [{name: app, env: [{name: A, value: a}], volumeMounts: [{name: d, mountPath: /d}]}]}}`)
	at := meeting(b, "{app: web}")
	b.ReportAllocs()
	for b.Loop() {
		choices, err := Choose(sets, at)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Inject(pod, Contents(choices), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
