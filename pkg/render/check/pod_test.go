package check_test

import (
	"strings"
	"testing"
)

const goodPod = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes: [{name: v, emptyDir: {}}]
      initContainers: [{name: init, image: "example.com/init:1"}, {name: native, image: "example.com/n:1", restartPolicy: Always, startupProbe: {exec: {command: [x]}}}]
      containers:
      - name: web
        image: example.com/web:1
        volumeMounts: [{name: v, mountPath: /v, subPath: a/b}]
`

// TestPodTemplate_Rules: Kubernetes' rules, as Kruise's webhooks enforce them for
// every kind that has a template.
func TestPodTemplate_Rules(t *testing.T) {
	const at, first = "pod/template-invalid spec.template.spec.", "pod/template-invalid spec.template.spec.containers[0]."
	const image = "        image: example.com/web:1\n"
	own := func(line string) []string { return []string{image, image + "        " + line + "\n"} }
	pod := func(line string) []string { return []string{"      volumes:", "      " + line + "\n      volumes:"} }
	rulings(t, goodPod, []ruling{
		{name: "image of pods", edit: []string{"image: example.com/web:1", "image: ' a'"}, want: first + "image (accepted)"},
		{name: "time to stop", edit: pod("terminationGracePeriodSeconds: -1"), want: at + "terminationGracePeriodSeconds (accepted)"},
		{name: "a field that came later", edit: own("lifecycle: {stopSignal: SIGUSR1}")},
		{name: "path of a field", edit: own("env: [{name: a, valueFrom: {fieldRef: {fieldPath: spec.foo}}}]"), want: first + "env[0].valueFrom.fieldRef.fieldPath"},
		{name: "divisor", edit: own("env: [{name: a, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 3}}}]"), want: first + "env[0].valueFrom.resourceFieldRef.divisor"},
		{name: "prefix", edit: own("envFrom: [{prefix: 1-, configMapRef: {name: a}}]"), want: first + "envFrom[0].prefix"},
		{name: "huge pages alone", edit: own("resources: {limits: {hugepages-2Mi: 2Mi}}"), want: first + "resources"},
		{name: "privileged", edit: own("securityContext: {privileged: true}")},
		{name: "device and mount", edit: []string{"emptyDir: {}", "persistentVolumeClaim: {claimName: c}", image, image + "        volumeDevices: [{name: v, devicePath: /d}]\n"}, want: first + "volumeDevices[0].name, " + first + "volumeMounts[0].name"},
		{name: "ports", edit: own("ports: [{containerPort: 80, name: http}, {containerPort: 81, hostPort: 81}]")},
		{name: "host network", edit: append(pod("hostNetwork: true"), own("ports: [{containerPort: 80}]")...)},
		{name: "unknown field", edit: own("future: {a: b}")},
		{name: "affinity", edit: pod("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['3']}]}]}}}")},

		{name: "label", edit: []string{"{labels: {app: web}}", "{labels: {app: web, a: 'b c'}}"}, want: "pod/template-invalid spec.template.metadata.labels"},
		{name: "container name", edit: []string{"- name: web", "- name: Web_1"}, want: first + "name"},
		{name: "port", edit: own("ports: [{containerPort: 0}]"), want: first + "ports[0].containerPort"},
		{name: "host port", edit: own("ports: [{containerPort: 80, hostPort: 70000}]"), want: first + "ports[0].hostPort"},
		{name: "protocol", edit: own("ports: [{containerPort: 80, protocol: QUIC}]"), want: first + "ports[0].protocol"},
		{name: "port name", edit: own("ports: [{containerPort: 80, name: Http}]"), want: first + "ports[0].name"},
		{name: "port name twice", edit: own("ports: [{containerPort: 80, name: a}, {containerPort: 81, name: a}]"), want: first + "ports[1].name"},
		{name: "host port twice", edit: own("ports: [{containerPort: 80, hostPort: 1}, {containerPort: 81, hostPort: 1, protocol: TCP}]"), want: first + "ports[1].hostPort"},
		{name: "other port of the host", edit: append(pod("hostNetwork: true"), own("ports: [{containerPort: 80, hostPort: 81}]")...), want: first + "ports[0].hostPort"},
		{name: "env name", edit: own("env: [{name: 'a=b'}]"), want: first + "env[0].name"},
		{name: "amount of no resource", edit: own("env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.gpu}}}]"), want: first + "env[0].valueFrom.resourceFieldRef.resource"},
		{name: "amounts", edit: own("env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: B, valueFrom: {resourceFieldRef: {resource: requests.hugepages-2Mi}}}]")},
		{name: "user", edit: own("securityContext: {runAsUser: -1}"), want: first + "securityContext.runAsUser"},
		{name: "proc mount", edit: own("securityContext: {procMount: Some}"), want: first + "securityContext.procMount"},
		{name: "sleep", edit: own("lifecycle: {preStop: {sleep: {seconds: -1}}}"), want: first + "lifecycle.preStop.sleep"},
		{name: "user of the pod", edit: pod("securityContext: {runAsUser: -1}"), want: at + "securityContext.runAsUser"},
		{name: "priority class", edit: pod("priorityClassName: A B"), want: at + "priorityClassName"},
		{name: "domains", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]"), want: at + "topologySpreadConstraints[0].minDomains"},
		{name: "no domains", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 0}]"), want: at + "topologySpreadConstraints[0].minDomains"},
		{name: "two sources", edit: own("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: a, key: b}}}]"), want: first + "env[0].valueFrom"},
		{name: "value and source", edit: own("env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), want: first + "env[0].valueFrom"},
		{name: "no field path", edit: own("env: [{name: A, valueFrom: {fieldRef: {}}}]"), want: first + "env[0].valueFrom.fieldRef.fieldPath"},
		{name: "pull policy", edit: own("imagePullPolicy: Sometimes"), want: first + "imagePullPolicy"},
		{name: "message policy", edit: own("terminationMessagePolicy: Both"), want: first + "terminationMessagePolicy"},
		{name: "negative limit", edit: own("resources: {limits: {cpu: -1}}"), want: first + "resources.limits[cpu]"},
		{name: "request", edit: own("resources: {limits: {cpu: 1}, requests: {cpu: 2}}"), want: first + "resources.requests"},
		{name: "probe of nothing", edit: own("livenessProbe: {periodSeconds: 1}"), want: first + "livenessProbe"},
		{name: "probe in seconds", edit: own("readinessProbe: {tcpSocket: {port: 1}, periodSeconds: -1}"), want: first + "readinessProbe.periodSeconds"},
		{name: "probe that succeeds twice", edit: own("livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}"), want: first + "livenessProbe.successThreshold"},
		{name: "probe by a scheme", edit: own("livenessProbe: {httpGet: {port: 80, scheme: FTP}}"), want: first + "livenessProbe.httpGet.scheme"},
		{name: "hook of nothing", edit: own("lifecycle: {preStop: {}}"), want: first + "lifecycle.preStop"},
		{name: "hook without a command", edit: own("lifecycle: {postStart: {exec: {}}}"), want: first + "lifecycle.postStart.exec.command"},
		{name: "mount of nothing", edit: []string{"[{name: v, mountPath", "[{name: w, mountPath"}, want: first + "volumeMounts[0].name"},
		{name: "mount nowhere", edit: []string{"mountPath: /v, ", ""}, want: first + "volumeMounts[0].mountPath"},
		{name: "mount out of the volume", edit: []string{"a/b", "a/../../b"}, want: first + "volumeMounts[0].subPath"},
		{name: "two sub-paths", edit: []string{"subPath: a/b", "subPath: a, subPathExpr: b"}, want: first + "volumeMounts[0].subPathExpr"},
		{name: "hook of an init container", edit: []string{`"example.com/init:1"`, `"example.com/init:1", lifecycle: {}`}, want: at + "initContainers[0].lifecycle"},
		{name: "volume twice", edit: []string{"emptyDir: {}}", "emptyDir: {}}, {name: v}"}, want: at + "volumes[1].name"},
		{name: "dns", edit: pod("dnsPolicy: Fast"), want: at + "dnsPolicy"},
		{name: "account", edit: pod("serviceAccountName: A_B"), want: at + "serviceAccountName"},
		{name: "gate", edit: pod("readinessGates: [{conditionType: 'a b'}]"), want: at + "readinessGates[0].conditionType"},
		{name: "node label", edit: pod("nodeSelector: {a: 'b c'}"), want: at + "nodeSelector"},
		{name: "no terms", edit: pod("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}"), want: at + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"},
		{name: "node field", edit: pod("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchFields: [{key: a, operator: In, values: [b]}]}}]}}"), want: at + "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key"},
		{name: "no values", edit: pod("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: In}]}}]}}"), want: at + "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values"},
		{name: "no key", edit: pod("tolerations: [{operator: Equal}]"), want: at + "tolerations[0].operator"},
		{name: "effect", edit: pod("tolerations: [{key: a, effect: Never}]"), want: at + "tolerations[0].effect"},
		{name: "seconds", edit: pod("tolerations: [{key: a, effect: NoSchedule, tolerationSeconds: 5}]"), want: at + "tolerations[0].effect"},
		{name: "skew", edit: pod("topologySpreadConstraints: [{maxSkew: 0, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]"), want: at + "topologySpreadConstraints[0].maxSkew"},
		{name: "vendor's resource", edit: own("resources: {limits: {example.com/gpu: 1}, requests: {example.com/gpu: 1}}")},
		{name: "anti-affinity", edit: pod("affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {a: b}}}}]}}")},
		{name: "own name server", edit: pod("dnsPolicy: None\n      dnsConfig: {nameservers: [10.0.0.10]}")},

		{name: "restart of a container", edit: own("restartPolicy: Always"), want: first + "restartPolicy"},
		{name: "restart of an init container", edit: []string{`"example.com/init:1"`, `"example.com/init:1", restartPolicy: Never`}, want: at + "initContainers[0].restartPolicy"},
		{name: "grace of a readiness probe", edit: own("readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}"), want: first + "readinessProbe.terminationGracePeriodSeconds"},
		{name: "no grace of a probe", edit: own("livenessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 0}"), want: first + "livenessProbe.terminationGracePeriodSeconds"},
		{name: "expression out of the volume", edit: []string{"subPath: a/b", "subPathExpr: /$(A)"}, want: first + "volumeMounts[0].subPathExpr"},
		{name: "ephemeral containers", edit: pod("ephemeralContainers: [{name: e, image: e}]"), want: at + "ephemeralContainers"},
		{name: "name server by name", edit: pod("dnsConfig: {nameservers: [dns.example.com]}"), want: at + "dnsConfig.nameservers[0]"},
		{name: "four name servers", edit: pod("dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]}"), want: at + "dnsConfig.nameservers"},
		{name: "host name", edit: pod("hostname: a.b"), want: at + "hostname"},
		{name: "alias", edit: pod("hostAliases: [{ip: here, hostnames: [a]}]"), want: at + "hostAliases[0].ip"},
		{name: "pods together by no weight", edit: pod("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {topologyKey: zone}}]}}"), want: at + "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
		{name: "spread twice", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]"), want: at + "topologySpreadConstraints[0]"},
		{name: "unsatisfiable", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]"), want: at + "topologySpreadConstraints[0].whenUnsatisfiable"},
	})
}

// TestPodTemplate_KeepsSecrets: what Kubernetes' messages quote is not quoted where it may be secret.
func TestPodTemplate_KeepsSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, line := range []string{
		"env: [{name: A, value: hunter2, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
		"livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: 'a b', value: hunter2}]}}",
		"args: [hunter2]\n        image: ''",
	} {
		text := ""
		if err := checked(t, strings.Replace(goodPod, "        image: example.com/web:1\n", "        "+line+"\n", 1), ""); err != nil {
			text = err.Error()
		}
		if text == "" || strings.Contains(text, secret) {
			t.Errorf("%s: %q", line, text)
		}
	}
	annotated := strings.Replace(goodPod, "metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, annotations: {container.apparmor.security.beta.kubernetes.io/web: hunter2, 'a b': hunter2}}", 1)
	if err := checked(t, annotated, ""); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}

// TestPodTemplate_Says: messages and hints are in plain words, without regular expressions.
func TestPodTemplate_Says(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{"- name: web", "- name: Web_1", `spec.template.spec.containers[0].name: "Web_1": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc')`},
		{"image: example.com/web:1", "image: ''", "spec.template.spec.containers[0].image: required"},
		{"image: example.com/web:1", "image: a\n        imagePullPolicy: Sometimes", `spec.template.spec.containers[0].imagePullPolicy: "Sometimes" is not allowed: want Always, IfNotPresent or Never`},
		{"{name: v, mountPath", "{name: w, mountPath", "spec.template.spec.containers[0].volumeMounts[0].name: there is no \"w\""},
		{"subPath: a/b", "subPath: ../b", `spec.template.spec.containers[0].volumeMounts[0].subPath: "../b": must not contain '..'`},
	} {
		if err := checked(t, strings.Replace(goodPod, c.old, c.now, 1), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
