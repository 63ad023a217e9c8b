package rules

import (
	"strings"
	"testing"
)

const sidecarSpec = `
selector: {matchLabels: {app: web}}
containers:
- {name: mesh, image: "mesh:1", env: [{name: A, value: b}]}
- {name: log, image: "log:1"}
initContainers:
- {name: early, image: "early:1", restartPolicy: Always}
- {name: prepare, image: "prepare:1"}
volumes: [{name: data, emptyDir: {}}]
updateStrategy: {partition: 0}
`

func TestSidecarSetEligible(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		mode           UpdateMode
		fields         string
		restarts       string
	}{
		{"nothing", "", "", ModeUnchanged, "", ""},
		{"strategy", "partition: 0", "partition: 3", ModeUnchanged, "", ""},
		{"image", "mesh:1", "mesh:2", ModeInPlace, "spec.containers[0].image image", "mesh"},
		{"env", "value: b", "value: c", ModeNotAllowed, "spec.containers[0].env[0].value recreate", ""},
		{"native sidecar image", "early:1", "early:2", ModeUnchanged, "spec.initContainers[0].image newPods", ""},
		{"native sidecar env", `"early:1",`, `"early:1", env: [],`, ModeNotAllowed, "spec.initContainers[0].env recreate", ""},
		{"init container", "prepare:1", "prepare:2", ModeUnchanged, "spec.initContainers[1].image newPods", ""},
		{"init container beside a native sidecar", `"prepare:1"}`, `"prepare:1", args: [x]}`, ModeNotAllowed, "spec.initContainers[1].args recreate", ""},
		{"native sidecar removed", "- {name: early, image: \"early:1\", restartPolicy: Always}\n", "", ModeNotAllowed, "spec.initContainers[0].image newPods, spec.initContainers[0].name recreate, spec.initContainers[0].restartPolicy recreate, spec.initContainers[1] recreate", ""},
		{"no native sidecar any more", ", restartPolicy: Always", "", ModeNotAllowed, "spec.initContainers[0].restartPolicy recreate", ""},
		{"volumes", "emptyDir: {}", "emptyDir: {medium: Memory}", ModeUnchanged, "spec.volumes[0].emptyDir.medium newPods", ""},
		{"container removed", "- {name: log, image: \"log:1\"}\n", "", ModeNotAllowed, "spec.containers[1] recreate", ""},
		{"first secret", "volumes:", "imagePullSecrets: [{name: reg}]\nvolumes:", ModeUnchanged, "spec.imagePullSecrets[0] newPods", ""},
	} {
		got := SidecarSetEligible(template(t, sidecarSpec), template(t, strings.Replace(sidecarSpec, c.from, c.to, 1)))
		if got.Mode != c.mode || fieldText(got) != c.fields || strings.Join(got.Restarts, " ") != c.restarts || got.Why == "" {
			t.Errorf("%s: %s (%s): %s, restarts %v", c.name, got.Mode, got.Why, fieldText(got), got.Restarts)
		}
	}
}
