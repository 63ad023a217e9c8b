package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

// TestVerdictsOfPods: each rule of Kubernetes for pods refuses a CloneSet with the bad
// line, is a warning for an Advanced StatefulSet, whose pods Kruise does not look at, and
// lets a good neighbour of the line through. Lines are of the pod, or, with a dash, of its
// container.
func TestVerdictsOfPods(t *testing.T) {
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

// withLine is a spec whose pod, or, after a dash, whose container has the line.
func withLine(line string) string {
	of := "selector: {matchLabels: {app: web}}, " + podOf
	own, inside := strings.CutPrefix(line, "- ")
	if !inside {
		return strings.Replace(of, "spec: {containers", "spec: {"+line+", containers", 1)
	}
	of = strings.Replace(of, "'example.com/web:1'", "'example.com/web:1', "+own, 1)
	const volumes = "volumes: [{name: empty, emptyDir: {}}, {name: claim, persistentVolumeClaim: {claimName: c}}, {name: other, persistentVolumeClaim: {claimName: d}}]"
	return strings.Replace(of, "spec: {containers", "spec: {"+volumes+", containers", 1)
}

// faultsOf are the rules and fields of all that is found in an object.
func faultsOf(t *testing.T, manifest string) string {
	t.Helper()
	in := golden.Parse(t, manifest)
	var got []string
	// As the command asks: there may be more in the cluster than is known.
	for _, f := range check.Object(newContext(in, nil), check.Request{Object: in[0]}) {
		text := f.Rule + " " + f.Field
		if f.Accepted {
			text += " (accepted)"
		}
		got = append(got, text)
	}
	return strings.Join(got, ", ")
}
