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
		{name: "ports", edit: own("ports: [{containerPort: 80, name: http}, {containerPort: 81, hostPort: 81}]")},
		{name: "host network", edit: append(pod("hostNetwork: true"), own("ports: [{containerPort: 80}]")...)},
		{name: "unknown field", edit: own("future: {a: b}")},
		{name: "affinity", edit: pod("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['3']}]}]}}}")},

		{name: "label", edit: []string{"{labels: {app: web}}", "{labels: {app: web, a: 'b c'}}"}, want: "pod/template-invalid spec.template.metadata.labels"},
		{name: "container name", edit: []string{"- name: web", "- name: Web_1"}, want: first + "name"},
		{name: "name of an init container", edit: []string{"- name: web", "- name: init"}, want: first + "name"},
		{name: "image", edit: []string{"image: example.com/web:1", "image: ' a'"}, want: first + "image (accepted)"},
		{name: "no number of a node", edit: pod("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [b]}]}]}}}"), want: at + "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values (accepted)"},
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
		{name: "privileged and not", edit: own("securityContext: {privileged: true, allowPrivilegeEscalation: false}"), want: first + "securityContext"},
		{name: "sound security", edit: own("securityContext: {runAsUser: 0, runAsGroup: 5, allowPrivilegeEscalation: false, procMount: Unmasked}")},
		{name: "sleep", edit: own("lifecycle: {preStop: {sleep: {seconds: -1}}}"), want: first + "lifecycle.preStop.sleep.seconds"},
		{name: "user of the pod", edit: pod("securityContext: {runAsUser: -1}"), want: at + "securityContext.runAsUser"},
		{name: "priority class", edit: pod("priorityClassName: A B"), want: at + "priorityClassName"},
		{name: "system", edit: pod("os: {name: plan9}"), want: at + "os.name"},
		{name: "domains", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]"), want: at + "topologySpreadConstraints[0].minDomains"},
		{name: "no domains", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 0}]"), want: at + "topologySpreadConstraints[0].minDomains"},
		{name: "two sources", edit: own("env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}, secretKeyRef: {name: a, key: b}}}]"), want: first + "env[0].valueFrom"},
		{name: "value and source", edit: own("env: [{name: A, value: b, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), want: first + "env[0].valueFrom"},
		{name: "no field path", edit: own("env: [{name: A, valueFrom: {fieldRef: {}}}]"), want: first + "env[0].valueFrom.fieldRef.fieldPath"},
		{name: "env from nothing", edit: own("envFrom: [{prefix: A}]"), want: first + "envFrom[0]"},
		{name: "pull policy", edit: own("imagePullPolicy: Sometimes"), want: first + "imagePullPolicy"},
		{name: "message policy", edit: own("terminationMessagePolicy: Both"), want: first + "terminationMessagePolicy"},
		{name: "negative limit", edit: own("resources: {limits: {cpu: -1}}"), want: first + "resources.limits[cpu]"},
		{name: "request", edit: own("resources: {limits: {cpu: 1}, requests: {cpu: 2}}"), want: first + "resources.requests[cpu]"},
		{name: "probe of nothing", edit: own("livenessProbe: {periodSeconds: 1}"), want: first + "livenessProbe"},
		{name: "probe in seconds", edit: own("readinessProbe: {tcpSocket: {port: 1}, periodSeconds: -1}"), want: first + "readinessProbe.periodSeconds"},
		{name: "probe that succeeds twice", edit: own("livenessProbe: {tcpSocket: {port: 1}, successThreshold: 2}"), want: first + "livenessProbe.successThreshold"},
		{name: "probe of a port", edit: own("livenessProbe: {httpGet: {port: -}}"), want: first + "livenessProbe.httpGet.port"},
		{name: "probe by a scheme", edit: own("livenessProbe: {httpGet: {port: 80, scheme: FTP}}"), want: first + "livenessProbe.httpGet.scheme"},
		{name: "hook of nothing", edit: own("lifecycle: {preStop: {}}"), want: first + "lifecycle.preStop"},
		{name: "hook without a command", edit: own("lifecycle: {postStart: {exec: {}}}"), want: first + "lifecycle.postStart.exec.command"},
		{name: "mount of nothing", edit: []string{"[{name: v, mountPath", "[{name: w, mountPath"}, want: first + "volumeMounts[0].name"},
		{name: "mount nowhere", edit: []string{"mountPath: /v, ", ""}, want: first + "volumeMounts[0].mountPath"},
		{name: "mount out of the volume", edit: []string{"a/b", "a/../../b"}, want: first + "volumeMounts[0].subPath"},
		{name: "two sub-paths", edit: []string{"subPath: a/b", "subPath: a, subPathExpr: b"}, want: first + "volumeMounts[0].subPathExpr"},
		{name: "device at a mount", edit: own("volumeDevices: [{name: v, devicePath: /v}]"), want: first + "volumeDevices[0].devicePath, " + first + "volumeDevices[0].name"},
		{name: "hook of an init container", edit: []string{`"example.com/init:1"`, `"example.com/init:1", lifecycle: {}`}, want: at + "initContainers[0].lifecycle"},
		{name: "volume twice", edit: []string{"emptyDir: {}}", "emptyDir: {}}, {name: v}"}, want: at + "volumes[1].name"},
		{name: "two sources of a volume", edit: []string{"emptyDir: {}", "emptyDir: {}, hostPath: {path: /x}"}, want: at + "volumes[0]"},
		{name: "secret of no name", edit: []string{"emptyDir: {}", "secret: {}"}, want: at + "volumes[0].secret.secretName"},
		{name: "grace", edit: pod("terminationGracePeriodSeconds: -1"), want: at + "terminationGracePeriodSeconds (accepted)"},
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

		{name: "resource of no name", edit: own("resources: {limits: {gpu: 1}}"), want: first + "resources.limits[gpu]"},
		{name: "resource of the node", edit: own("resources: {limits: {kubernetes.io/batch: 1}}"), want: first + "resources.limits[kubernetes.io/batch]"},
		{name: "vendor's resource in part", edit: own("resources: {requests: {example.com/gpu: 1}}"), want: first + "resources.requests[example.com/gpu]"},
		{name: "restart of a container", edit: own("restartPolicy: Always"), want: first + "restartPolicy"},
		{name: "restart of an init container", edit: []string{`"example.com/init:1"`, `"example.com/init:1", restartPolicy: Never`}, want: at + "initContainers[0].restartPolicy"},
		{name: "grace of a readiness probe", edit: own("readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 5}"), want: first + "readinessProbe.terminationGracePeriodSeconds"},
		{name: "no grace of a probe", edit: own("livenessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 0}"), want: first + "livenessProbe.terminationGracePeriodSeconds"},
		{name: "colon in a mount", edit: []string{"mountPath: /v", "mountPath: '/v:ro'"}, want: first + "volumeMounts[0].mountPath"},
		{name: "expression out of the volume", edit: []string{"subPath: a/b", "subPathExpr: /$(A)"}, want: first + "volumeMounts[0].subPathExpr"},
		{name: "host path upwards", edit: []string{"emptyDir: {}", "hostPath: {path: /a/../b}"}, want: at + "volumes[0].hostPath.path"},
		{name: "ephemeral containers", edit: pod("ephemeralContainers: [{name: e, image: e}]"), want: at + "ephemeralContainers"},
		{name: "no name server", edit: pod("dnsPolicy: None"), want: at + "dnsConfig.nameservers"},
		{name: "name server by name", edit: pod("dnsConfig: {nameservers: [dns.example.com]}"), want: at + "dnsConfig.nameservers[0]"},
		{name: "four name servers", edit: pod("dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]}"), want: at + "dnsConfig.nameservers"},
		{name: "host name", edit: pod("hostname: a.b"), want: at + "hostname"},
		{name: "alias", edit: pod("hostAliases: [{ip: here, hostnames: [a]}]"), want: at + "hostAliases[0].ip"},
		{name: "pods apart by nothing", edit: pod("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]}}"), want: at + "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"},
		{name: "pods together by no weight", edit: pod("affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {topologyKey: zone}}]}}"), want: at + "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight"},
		{name: "pods by an operator", edit: pod("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: Like}]}}]}}"), want: at + "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector"},
		{name: "spread twice", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]"), want: at + "topologySpreadConstraints[1]"},
		{name: "unsatisfiable", edit: pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: a}]"), want: at + "topologySpreadConstraints[0].whenUnsatisfiable"},
	})
}

// TestPodTemplate_RefusedOrAccepted: each rule of Kubernetes for pods refuses a CloneSet with the bad
// line, is a warning for an Advanced StatefulSet, whose pods Kruise does not look at, and
// lets a good neighbour of the line through. Lines are of the pod, or, with a dash, of its
// container.
func TestPodTemplate_RefusedOrAccepted(t *testing.T) {
	const own = "containers[0]."
	for _, c := range []struct{ bad, field, good string }{
		{"securityContext: {runAsUser: -1}", "securityContext.runAsUser", "securityContext: {runAsUser: 0}"},
		{"securityContext: {supplementalGroups: [1, -1]}", "securityContext.supplementalGroups[1]", "securityContext: {supplementalGroups: [1, 2]}"},
		{"securityContext: {fsGroupChangePolicy: Never}", "securityContext.fsGroupChangePolicy", "securityContext: {fsGroupChangePolicy: OnRootMismatch}"},
		{"securityContext: {sysctls: [{name: '', value: a}]}", "securityContext.sysctls[0].name", "securityContext: {sysctls: [{name: net/core/somaxconn, value: a}]}"},
		{"securityContext: {sysctls: [{name: a.B, value: a}]}", "securityContext.sysctls[0].name", "securityContext: {sysctls: [{name: a.b, value: a}]}"},
		{"securityContext: {sysctls: [{name: a.b, value: a}, {name: a.b, value: b}]}", "securityContext.sysctls[1].name", "securityContext: {sysctls: [{name: a.b, value: a}, {name: a.c, value: b}]}"},
		{"securityContext: {seccompProfile: {type: Mine}}", "securityContext.seccompProfile.type", "securityContext: {seccompProfile: {type: RuntimeDefault}}"},
		{"securityContext: {seccompProfile: {type: Localhost}}", "securityContext.seccompProfile.localhostProfile", "securityContext: {seccompProfile: {type: Localhost, localhostProfile: a/b}}"},
		{"securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../b}}", "securityContext.seccompProfile.localhostProfile", ""},
		{"securityContext: {seccompProfile: {type: Unconfined, localhostProfile: b}}", "securityContext.seccompProfile.localhostProfile", "securityContext: {seccompProfile: {type: Unconfined}}"},
		{"hostUsers: false, hostNetwork: true", "hostNetwork", "hostUsers: true, hostNetwork: true"},
		{"hostUsers: false, hostIPC: true", "hostIPC", "hostUsers: false"},
		{"shareProcessNamespace: true, hostPID: true", "shareProcessNamespace", "shareProcessNamespace: false, hostPID: true"},
		{"priorityClassName: A B", "priorityClassName", "priorityClassName: system-node-critical"},
		{"runtimeClassName: A B", "runtimeClassName", "runtimeClassName: gvisor"},
		{"nodeName: A B", "nodeName", "nodeName: node-1"},
		{"preemptionPolicy: Sometimes", "preemptionPolicy", "preemptionPolicy: Never"},
		{"schedulingGates: [{name: a}, {name: a}]", "schedulingGates[1].name", "schedulingGates: [{name: a}, {name: b}]"},
		{"schedulingGates: [{name: a b}]", "schedulingGates[0].name", ""},
		{"os: {name: plan9}", "os.name", "os: {name: linux}"},
		{"os: {name: linux}, securityContext: {windowsOptions: {}}", "securityContext.windowsOptions", "os: {name: windows}, securityContext: {windowsOptions: {}}"},
		{"os: {name: windows}, securityContext: {runAsUser: 1}", "securityContext.runAsUser", "os: {name: linux}, securityContext: {runAsUser: 1}"},
		{"os: {name: windows}, hostPID: true", "hostPID", "os: {name: windows}, hostNetwork: true"},
		{"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]", "topologySpreadConstraints[0].minDomains", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]"},
		{"topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Some}]", "topologySpreadConstraints[0].nodeTaintsPolicy", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}]"},
		{"volumes: [{name: v, nfs: {path: /a}}]", "volumes[0].nfs.server", "volumes: [{name: v, nfs: {server: s, path: /a}}]"},
		{"volumes: [{name: v, nfs: {server: s, path: a}}]", "volumes[0].nfs.path", ""},
		{"volumes: [{name: v, emptyDir: {sizeLimit: -1}}]", "volumes[0].emptyDir.sizeLimit", "volumes: [{name: v, emptyDir: {sizeLimit: 0}}]"},
		{"volumes: [{name: v, hostPath: {path: /a, type: Pipe}}]", "volumes[0].hostPath.type", "volumes: [{name: v, hostPath: {path: /a, type: ''}}]"},
		{"volumes: [{name: v, configMap: {name: c, defaultMode: 512}}]", "volumes[0].configMap.defaultMode", "volumes: [{name: v, configMap: {name: c, defaultMode: 511}}]"},
		{"volumes: [{name: v, configMap: {name: c, items: [{key: a, path: ../b}]}}]", "volumes[0].configMap.items[0].path", "volumes: [{name: v, configMap: {name: c, items: [{key: a, path: b/c}]}}]"},
		{"volumes: [{name: v, secret: {secretName: c, items: [{key: a, path: ..b}]}}]", "volumes[0].secret.items[0].path", ""},
		{"volumes: [{name: v, downwardAPI: {items: [{path: a}]}}]", "volumes[0].downwardAPI.items[0]", "volumes: [{name: v, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}]}}]"},
		{"volumes: [{name: v, projected: {sources: [{secret: {}}]}}]", "volumes[0].projected.sources[0].secret.name", "volumes: [{name: v, projected: {sources: [{secret: {name: s}}]}}]"},
		{"volumes: [{name: v, projected: {sources: [{secret: {name: s}, configMap: {name: c}}]}}]", "volumes[0].projected.sources[0]", ""},
		{"volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 599}}]}}]", "volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds", "volumes: [{name: v, projected: {sources: [{serviceAccountToken: {path: t, expirationSeconds: 600}}]}}]"},
		{"volumes: [{name: v, ephemeral: {}}]", "volumes[0].ephemeral.volumeClaimTemplate", ""},
		{"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}]", "volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes", "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"},
		{"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]", "volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]", ""},
		{"serviceAccount: A B", "serviceAccount", "serviceAccount: builder"},
		{"securityContext: {supplementalGroupsPolicy: Some}", "securityContext.supplementalGroupsPolicy", "securityContext: {supplementalGroupsPolicy: Strict}"},
		{"securityContext: {seLinuxChangePolicy: Some}", "securityContext.seLinuxChangePolicy", "securityContext: {seLinuxChangePolicy: Recursive}"},
		{"securityContext: {appArmorProfile: {type: Localhost}}", "securityContext.appArmorProfile.localhostProfile", "securityContext: {appArmorProfile: {type: Localhost, localhostProfile: web}}"},
		{"securityContext: {appArmorProfile: {type: RuntimeDefault, localhostProfile: web}}", "securityContext.appArmorProfile.localhostProfile", "securityContext: {appArmorProfile: {type: RuntimeDefault}}"},
		{"overhead: {a: 1}", "overhead.limits[a]", "overhead: {cpu: 1}"},
		{"resources: {limits: {a: 1}}", "resources.limits[a]", "resources: {limits: {cpu: 1}}"},
		{"resources: {claims: [{name: gpu}]}", "resources.claims", ""},
		{"resourceClaims: [{name: gpu}]", "resourceClaims[0]", "resourceClaims: [{name: gpu, resourceClaimName: a}]"},
		{"resourceClaims: [{name: gpu, resourceClaimName: a, resourceClaimTemplateName: b}]", "resourceClaims[0]", "resourceClaims: [{name: gpu, resourceClaimTemplateName: b}]"},
		{"resourceClaims: [{name: gpu, resourceClaimName: A B}]", "resourceClaims[0].resourceClaimName", ""},
		{"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a b}]}}", "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a.b/c}]}}"},
		{"volumes: [{name: v, image: {reference: a, pullPolicy: Some}}]", "volumes[0].image.pullPolicy", "volumes: [{name: v, image: {reference: a, pullPolicy: Always}}]"},
		{"dnsConfig: {searches: [a b]}", "dnsConfig.searches[0]", "dnsConfig: {searches: [_a.b., .]}"},
		{"dnsConfig: {options: [{value: a}]}", "dnsConfig.options[0].name", "dnsConfig: {options: [{name: ndots, value: '2'}]}"},
		{"hostAliases: [{ip: 10.0.0.1, hostnames: [a b]}]", "hostAliases[0].hostnames[0]", "hostAliases: [{ip: 10.0.0.1, hostnames: [a.b]}]"},

		{"- securityContext: {privileged: true, allowPrivilegeEscalation: false}", own + "securityContext", "- securityContext: {privileged: true, allowPrivilegeEscalation: true}"},
		{"- securityContext: {seccompProfile: {type: ''}}", own + "securityContext.seccompProfile.type", "- securityContext: {seccompProfile: {type: Unconfined}}"},
		{"- lifecycle: {preStop: {sleep: {seconds: -1}}}", own + "lifecycle.preStop.sleep.seconds", "- lifecycle: {preStop: {sleep: {seconds: 0}}}"},
		{"- lifecycle: {postStart: {sleep: {seconds: 31}}}", own + "lifecycle.postStart.sleep.seconds", "- lifecycle: {postStart: {sleep: {seconds: 30}}}"},
		{"- lifecycle: {preStop: {sleep: {seconds: 5}, exec: {command: [a]}}}", own + "lifecycle.preStop", "- lifecycle: {preStop: {exec: {command: [a]}}}"},
		{"- livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: 'a b', value: c}]}}", own + "livenessProbe.httpGet.httpHeaders[0].name", "- livenessProbe: {httpGet: {port: 80, httpHeaders: [{name: a, value: c}]}}"},
		{"- securityContext: {appArmorProfile: {type: Some}}", own + "securityContext.appArmorProfile.type", "- securityContext: {appArmorProfile: {type: Unconfined}}"},
		{"- resizePolicy: [{resourceName: disk, restartPolicy: NotRequired}]", own + "resizePolicy[0].resourceName", "- resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]"},
		{"- resizePolicy: [{resourceName: cpu, restartPolicy: Always}]", own + "resizePolicy[0].restartPolicy", ""},
		{"- resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: cpu, restartPolicy: RestartContainer}]", own + "resizePolicy[1].resourceName", "- resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}, {resourceName: memory, restartPolicy: RestartContainer}]"},
		{"- resources: {claims: [{name: gpu}]}", own + "resources.claims[0].name", ""},
		{"- livenessProbe: {grpc: {port: 65536}}", own + "livenessProbe.grpc.port", "- livenessProbe: {grpc: {port: 65535}}"},
		{"- envFrom: [{configMapRef: {}}]", own + "envFrom[0].configMapRef.name", "- envFrom: [{configMapRef: {name: a}}]"},
		{"- envFrom: [{secretRef: {}}]", own + "envFrom[0].secretRef.name", "- envFrom: [{secretRef: {name: a}}]"},
		{"- env: [{name: a, valueFrom: {configMapKeyRef: {name: c, key: a/b}}}]", own + "env[0].valueFrom.configMapKeyRef.key", "- env: [{name: a, valueFrom: {configMapKeyRef: {name: c, key: a.b}}}]"},
		{"- env: [{name: a, valueFrom: {secretKeyRef: {name: c, key: a/b}}}]", own + "env[0].valueFrom.secretKeyRef.key", "- env: [{name: a, valueFrom: {secretKeyRef: {name: c, key: a.b}}}]"},
		{"- env: [{name: ''}]", own + "env[0].name", "- env: [{name: a.b}]"},
		{"- env: [{name: a=b}]", own + "env[0].name", "- env: [{name: 1 a}]"},
		{"- volumeMounts: [{name: claim, mountPath: /a}], volumeDevices: [{name: other, devicePath: /a}]", own + "volumeDevices[0].devicePath", "- volumeMounts: [{name: claim, mountPath: /a}], volumeDevices: [{name: other, devicePath: /b}]"},
		{"- volumeMounts: [{name: claim, mountPath: /a}], volumeDevices: [{name: claim, devicePath: /b}]", own + "volumeDevices[0].name", ""},
		{"- volumeDevices: [{name: claim, devicePath: /a/../b}]", own + "volumeDevices[0].devicePath", "- volumeDevices: [{name: claim, devicePath: /a..b}]"},
		{"- volumeDevices: [{name: empty, devicePath: /a}]", own + "volumeDevices[0].name", "- volumeMounts: [{name: empty, mountPath: /a}]"},
	} {
		t.Run(c.bad, func(t *testing.T) {
			at := "spec.template.spec." + c.field
			want := "pod/template-invalid " + at
			if got := faultsOf(t, object("CloneSet", withLine(c.bad))); got != want {
				t.Errorf("CloneSet: got %q, want %q", got, want)
			}
			want = "pod/template-invalid " + at + " (accepted)"
			if got := faultsOf(t, object("StatefulSet", "serviceName: web, "+withLine(c.bad))); !strings.HasPrefix(got, want) {
				t.Errorf("StatefulSet: got %q, want %q", got, want)
			}
			if c.good == "" {
				return
			}
			if got := faultsOf(t, object("CloneSet", withLine(c.good))); got != "" {
				t.Errorf("%s: got %q", c.good, got)
			}
		})
	}
}
