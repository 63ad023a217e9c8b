package check_test

import "testing"

const goodState = `
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: db, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  requiredPersistentTopology: {keys: [topology.kubernetes.io/zone]}
`

func TestPersistentPodState_Rules(t *testing.T) {
	const topology = "requiredPersistentTopology: {keys: [topology.kubernetes.io/zone]}"
	const taken = `
apiVersion: apps.kruise.io/v1beta1
kind: PersistentPodState
metadata: {name: other, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1beta1, kind: StatefulSet, name: db}}
`
	rulings(t, goodState, []ruling{
		{name: "advanced", edit: []string{"apps/v1", "apps.kruise.io/v1beta1"}},
		{name: "preferred", edit: []string{topology, "preferredPersistentTopology: [{weight: 1, preference: {keys: [a]}}]"}},
		{name: "negative weight in v1alpha1", edit: []string{"v1beta1", "v1alpha1", topology, "preferredPersistentTopology: [{weight: -1, preference: {nodeTopologyKeys: [a]}}]"}},
		{name: "kind", edit: []string{"StatefulSet", "Deployment"}, want: "persistentpodstate/target-invalid spec.targetRef"},
		{name: "kind that may be listed", edit: []string{"StatefulSet", "Deployment"}, unsure: true},
		{name: "version", edit: []string{"apps/v1", "a/b/c"}, want: "persistentpodstate/target-invalid spec.targetRef.apiVersion"},
		{name: "no topology", edit: []string{topology, "persistentPodAnnotations: []"}, want: "persistentpodstate/topology-missing spec.requiredPersistentTopology"},
		{name: "no keys", edit: []string{"{keys: [topology.kubernetes.io/zone]}", "{}"}, want: "object/missing-field spec.requiredPersistentTopology.keys"},
		{name: "no keys in v1alpha1", edit: []string{"v1beta1", "v1alpha1", "{keys: [topology.kubernetes.io/zone]}", "{}"}, want: "object/missing-field spec.requiredPersistentTopology.nodeTopologyKeys"},
		{name: "weight", edit: []string{topology, "preferredPersistentTopology: [{weight: -1, preference: {keys: [a]}}]"}, want: "persistentpodstate/weight-invalid spec.preferredPersistentTopology[0].weight"},
		{name: "retention", edit: []string{"  required", "  persistentPodStateRetentionPolicy: Forever\n  required"}, want: "persistentpodstate/retention-invalid spec.persistentPodStateRetentionPolicy"},
		{name: "taken", around: taken, want: "persistentpodstate/target-invalid spec.targetRef"},
		{name: "target changed", edit: []string{"kind: StatefulSet, name: db", "kind: StatefulSet, name: db-2"}, old: []string{}, want: "object/immutable-field spec.targetRef"},
	})
}

const goodMarker = `
apiVersion: apps.kruise.io/v1alpha1
kind: PodProbeMarker
metadata: {name: idle, namespace: shop}
spec:
  selector: {matchLabels: {app: game}}
  probes: [{name: idle, containerName: game, podConditionType: example.com/idle, probe: {exec: {command: [x]}}}]
`

func TestPodProbeMarker_Rules(t *testing.T) {
	const exec, condition, at = "{exec: {command: [x]}}", "podConditionType: example.com/idle", "spec.probes[0]"
	asks := func(text string) []string { return []string{exec, "{" + text + "}"} }
	rulings(t, goodMarker, []ruling{
		{name: "tcp", edit: asks("tcpSocket: {port: 7000}, initialDelaySeconds: 5")},
		{name: "http", edit: asks("httpGet: {path: /, port: http, scheme: HTTP}")},
		{name: "marker", edit: []string{condition, "markerPolicy: [{state: Failed, labels: {a: b}}]"}},
		{name: "empty selector", edit: []string{"{matchLabels: {app: game}}", "{}"}, want: "podprobemarker/selector-invalid spec.selector"},
		{name: "no probes", edit: []string{"probes: [{name: idle, containerName: game, " + condition + ", probe: " + exec + "}]", "probes: []"}, want: "podprobemarker/probe-invalid spec.probes"},
		{name: "name twice", edit: []string{"[{name: idle", "[{name: idle, containerName: game, podConditionType: a/b, probe: {exec: {command: [x]}}}, {name: idle"}, want: "podprobemarker/probe-invalid spec.probes[1].name"},
		{name: "name", edit: []string{"{name: idle, c", "{name: 'a#b', c"}, want: "podprobemarker/probe-invalid " + at + ".name"},
		{name: "name of a condition", edit: []string{"{name: idle, c", "{name: Ready, c"}, want: "podprobemarker/probe-invalid " + at + ".name"},
		{name: "condition of Kubernetes", edit: []string{"example.com/idle", "Ready"}, want: "podprobemarker/probe-invalid " + at + ".podConditionType (accepted)"},
		{name: "condition", edit: []string{"example.com/idle", "a b"}, want: "podprobemarker/probe-invalid " + at + ".podConditionType"},
		{name: "no container", edit: []string{"containerName: game", "containerName: ''"}, want: "podprobemarker/probe-invalid " + at + ".containerName"},
		{name: "no effect", edit: []string{condition + ", ", ""}, want: "podprobemarker/probe-invalid " + at},
		{name: "state", edit: []string{condition, "markerPolicy: [{state: Unknown, labels: {a: b}}]"}, want: "podprobemarker/marker-invalid " + at + ".markerPolicy[0].state"},
		{name: "two ways", edit: asks("exec: {command: [x]}, tcpSocket: {port: 80}"), want: "podprobemarker/handler-invalid " + at + ".probe"},
		{name: "grpc", edit: asks("grpc: {port: 80}"), want: "podprobemarker/handler-invalid " + at + ".probe"},
		{name: "no command", edit: asks("exec: {}"), want: "podprobemarker/handler-invalid " + at + ".probe.exec.command"},
		{name: "host", edit: asks("httpGet: {host: example.com, path: /, port: 80, scheme: HTTP}"), want: "podprobemarker/handler-invalid " + at + ".probe.httpGet.host"},
		{name: "tcp host", edit: asks("tcpSocket: {host: example.com, port: 80}"), want: "podprobemarker/handler-invalid " + at + ".probe.tcpSocket.host"},
		{name: "no scheme", edit: asks("httpGet: {path: /, port: 80}"), want: "podprobemarker/handler-invalid " + at + ".probe.httpGet.scheme"},
		{name: "no path", edit: asks("httpGet: {port: 80, scheme: HTTP}"), want: "podprobemarker/handler-invalid " + at + ".probe.httpGet.path"},
		{name: "port", edit: asks("tcpSocket: {port: 70000}"), want: "podprobemarker/handler-invalid " + at + ".probe.tcpSocket.port"},
		{name: "header", edit: asks("httpGet: {path: /, port: 80, scheme: HTTP, httpHeaders: [{name: 'a b', value: c}]}"), want: "podprobemarker/handler-invalid " + at + ".probe.httpGet.httpHeaders[0].name"},
		{name: "negative", edit: asks("exec: {command: [x]}, periodSeconds: -1"), want: "podprobemarker/handler-invalid " + at + ".probe.periodSeconds"},
		{name: "no probe", edit: []string{", probe: " + exec, ""}, want: "podprobemarker/handler-invalid " + at + ".probe"},
		{name: "selector changed", edit: []string{"app: game", "app: gone"}, old: []string{}, want: "object/immutable-field spec.selector"},
	})
}

func TestNodePodProbe_Schema(t *testing.T) {
	const good = `
apiVersion: apps.kruise.io/v1alpha1
kind: NodePodProbe
metadata: {name: node-1}
spec:
  podProbes: [{name: p, namespace: shop, uid: "1", IP: 10.0.0.1}]
`
	rulings(t, good, []ruling{
		{name: "no uid", edit: []string{`uid: "1", `, ""}, want: "object/missing-field spec.podProbes[0].uid"},
		{name: "no port", edit: []string{"10.0.0.1}", "10.0.0.1, probes: [{name: a, containerName: b, probe: {httpGet: {}}}]}"}, want: "object/missing-field spec.podProbes[0].probes[0].probe.httpGet.port"},
		{name: "wrong type", edit: []string{`"1"`, "1"}, want: "object/wrong-type spec.podProbes[0].uid"},
	})
}

const goodEphemeral = `
apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata: {name: debug, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    ephemeralContainers: [{name: tools, image: "example.com/tools:1", terminationMessagePolicy: File, imagePullPolicy: Always}]
`

func TestEphemeralJob_Rules(t *testing.T) {
	const at = "ephemeraljob/container-invalid spec.template.ephemeralContainers[0]."
	with := func(text string) []string {
		return []string{"imagePullPolicy: Always", "imagePullPolicy: Always, " + text}
	}
	rulings(t, goodEphemeral, []ruling{
		{name: "target", edit: with("targetContainerName: web, command: [sh]")},
		{name: "no selector", edit: []string{"  selector: {matchLabels: {app: web}}\n", ""}, want: "ephemeraljob/selector-invalid spec.selector"},
		{name: "no message policy", edit: []string{"terminationMessagePolicy: File, ", ""}, want: at + "terminationMessagePolicy"},
		{name: "no pull policy", edit: []string{", imagePullPolicy: Always", ""}, want: at + "imagePullPolicy"},
		{name: "pull policy", edit: []string{"imagePullPolicy: Always", "imagePullPolicy: Sometimes"}, want: at + "imagePullPolicy"},
		{name: "no image", edit: []string{"example.com/tools:1", ""}, want: at + "image"},
		{name: "name", edit: []string{"name: tools", "name: Tools"}, want: at + "name"},
		{name: "twice", edit: []string{"[{", "[{name: tools, image: a, terminationMessagePolicy: File, imagePullPolicy: Never}, {"}, want: "ephemeraljob/container-invalid spec.template.ephemeralContainers[1].name"},
		{name: "ports", edit: with("ports: [{containerPort: 80}]"), want: at + "ports, " + at + "ports[0].protocol"},
		{name: "resources", edit: with("resources: {limits: {cpu: 1}}"), want: at + "resources"},
		{name: "probe", edit: with("livenessProbe: {exec: {command: [x]}}"), want: at + "livenessProbe"},
		{name: "lifecycle", edit: with("lifecycle: {}"), want: at + "lifecycle"},
		{name: "sub-path", edit: with("volumeMounts: [{name: v, mountPath: /v, subPath: a}]"), want: at + "volumeMounts[0].subPath"},
	})
}
