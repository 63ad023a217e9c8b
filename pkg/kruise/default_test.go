package kruise_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

func TestDefault_FillsFieldsAsTheWebhook(t *testing.T) {
	for _, c := range []struct {
		name, in string
		path     []string
		want     string
	}{
		{"an OnDelete CloneSet gets no rollingUpdate", "{kind: CloneSet, spec: {updateStrategy: {type: OnDelete}}}", []string{"spec", "updateStrategy"}, "{type: OnDelete}"},
		{"a CloneSet keeps what it says", "{kind: CloneSet, spec: {replicas: 0, updateStrategy: {rollingUpdate: {maxUnavailable: 3}}}}", []string{"spec", "updateStrategy"}, `{type: RollingUpdate, rollingUpdate: {maxUnavailable: 3, maxSurge: 0, partition: 0, podUpdatePolicy: ReCreate}}`},
		{"replicas 0 stays", "{kind: CloneSet, spec: {replicas: 0}}", []string{"spec", "replicas"}, "0"},
		{"fixed subsets get no minimum", "{kind: UnitedDeployment, spec: {topology: {subsets: [{name: a, replicas: 1}, {name: b}]}}}", []string{"spec", "topology", "subsets"}, "[{name: a, replicas: 1}, {name: b}]"},
		{"elastic subsets do", "{kind: UnitedDeployment, spec: {topology: {subsets: [{name: a, maxReplicas: 50%}, {name: b}]}}}", []string{"spec", "topology", "subsets"}, "[{name: a, maxReplicas: 50%, minReplicas: 0}, {name: b, minReplicas: 0}]"},
		{"a revision needs a policy", "{kind: SidecarSet, spec: {injectionStrategy: {revision: {customVersion: a}}}}", []string{"spec", "injectionStrategy"}, "{revision: {customVersion: a, policy: Always}}"},
		{"a surging DaemonSet has no maxUnavailable", "{kind: DaemonSet, spec: {updateStrategy: {rollingUpdate: {maxSurge: 1}}}}", []string{"spec", "updateStrategy", "rollingUpdate"}, "{maxSurge: 1, rollingUpdateType: Standard}"},
		{"image lists replace", "{kind: AdvancedCronJob, spec: {schedule: '@daily', template: {imageListPullJobTemplate: {}}}}", []string{"spec", "concurrencyPolicy"}, "Replace"},
		{"a request fails", "{kind: ContainerRecreateRequest, spec: {podName: a}}", []string{"spec", "strategy"}, "{failurePolicy: Fail}"},
		{"a ResourceDistribution has no defaults", "{kind: ResourceDistribution, spec: {resource: {}, targets: {}}}", []string{"spec", "targets"}, "{}"},
	} {
		n := parse(t, c.in)
		obj := reflect.New(reflect.TypeOf(objects[tree.StrAt(n, "kind")])).Interface()
		if _, err := kruise.Decode(n, obj); err != nil {
			t.Fatal(c.name, err)
		}
		kruise.Default(obj)
		got := tree.Value(tree.Get(tree.FromValue(obj), c.path...))
		if diff := cmp.Diff(tree.Value(parse(t, c.want)), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

func TestPullPolicyOf_FollowsTheTag(t *testing.T) {
	for image, want := range map[string]string{
		"a": "Always", "a:latest": "Always", "r:5000/a": "Always", "r:5000/a:1": "IfNotPresent",
		"a:1": "IfNotPresent", "a@sha256:0": "IfNotPresent", "a:latest@sha256:0": "Always", "": "Always",
	} {
		var s kruise.SidecarSet
		if _, err := kruise.Decode(parse(t, fmt.Sprintf("{kind: SidecarSet, spec: {containers: [{name: a, image: %q}]}}", image)), &s); err != nil {
			t.Fatal(err)
		}
		kruise.Default(&s)
		if got := string(s.Spec.Containers[0].ImagePullPolicy); got != want {
			t.Errorf("%q: %s, want %s", image, got, want)
		}
	}
}

// Default must not touch what it does not know.
func TestDefault_LeavesOtherTypesAlone(t *testing.T) {
	kruise.Default(nil)
	s := "text"
	kruise.Default(&s)
	if s != "text" {
		t.Error(s)
	}
}

// TestDefaultTemplate: what an API server fills in, part by part.
func TestDefaultTemplate(t *testing.T) {
	for _, c := range []struct {
		name, in string
		path     []string
		want     string
	}{
		{"a pod", "{}", nil, "{dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30, containers: null}"},
		{"what is there stays", "{dnsPolicy: None, schedulerName: own, securityContext: {runAsUser: 1}, terminationGracePeriodSeconds: 0, restartPolicy: Never}", nil, "{dnsPolicy: None, restartPolicy: Never, schedulerName: own, securityContext: {runAsUser: 1}, terminationGracePeriodSeconds: 0, containers: null}"},
		{"a container", "{containers: [{name: a, image: 'a:1'}]}", []string{"containers"}, "[{name: a, image: 'a:1', imagePullPolicy: IfNotPresent, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}]"},
		{"an init container without a tag", "{initContainers: [{name: a, image: a, terminationMessagePolicy: FallbackToLogsOnError}]}", []string{"initContainers"}, "[{name: a, image: a, imagePullPolicy: Always, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: FallbackToLogsOnError}]"},
		{"ports", "{containers: [{imagePullPolicy: Never, terminationMessagePath: p, ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP}]}]}", []string{"containers"}, "[{name: '', imagePullPolicy: Never, resources: {}, terminationMessagePath: p, terminationMessagePolicy: File, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2, protocol: UDP}]}]"},
		{"env of a field", "{containers: [{name: a, imagePullPolicy: Never, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: x}, {name: C, valueFrom: {fileKeyRef: {key: k, path: p, volumeName: v}}}]}]}", []string{"containers"}, "[{name: a, imagePullPolicy: Never, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}, {name: B, value: x}, {name: C, valueFrom: {fileKeyRef: {key: k, path: p, volumeName: v, optional: false}}}]}]"},
		{"probes", "{containers: [{name: a, imagePullPolicy: Never, livenessProbe: {httpGet: {port: 80}}, readinessProbe: {grpc: {port: 1}, periodSeconds: 5}, startupProbe: {httpGet: {port: x, path: /ok, scheme: HTTPS}, failureThreshold: 9, timeoutSeconds: 2, successThreshold: 1}}]}", []string{"containers"}, "[{name: a, imagePullPolicy: Never, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, livenessProbe: {failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1, httpGet: {path: /, port: 80, scheme: HTTP}}, readinessProbe: {failureThreshold: 3, periodSeconds: 5, successThreshold: 1, timeoutSeconds: 1, grpc: {port: 1, service: ''}}, startupProbe: {failureThreshold: 9, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 2, httpGet: {path: /ok, port: x, scheme: HTTPS}}}]"},
		{"amounts", "{containers: [{name: a, imagePullPolicy: Never, resources: {limits: {cpu: 0.0001, memory: 1500m}, requests: {cpu: 100m}}}]}", []string{"containers"}, "[{name: a, imagePullPolicy: Never, resources: {limits: {cpu: 1m, memory: 1500m}, requests: {cpu: 100m}}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}]"},
		{"hooks", "{containers: [{name: a, imagePullPolicy: Never, lifecycle: {preStop: {httpGet: {port: 1}}, postStart: {exec: {command: [x]}}}}]}", []string{"containers"}, "[{name: a, imagePullPolicy: Never, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, lifecycle: {preStop: {httpGet: {path: /, port: 1, scheme: HTTP}}, postStart: {exec: {command: [x]}}}}]"},
		{"volumes", "{volumes: [{name: a}, {name: b, secret: {secretName: s}}, {name: c, configMap: {name: m, defaultMode: 256}}, {name: d, hostPath: {path: /x}}, {name: e, persistentVolumeClaim: {claimName: p}}]}", []string{"volumes"}, "[{name: a, emptyDir: {}}, {name: b, secret: {secretName: s, defaultMode: 420}}, {name: c, configMap: {name: m, defaultMode: 256}}, {name: d, hostPath: {path: /x, type: ''}}, {name: e, persistentVolumeClaim: {claimName: p}}]"},
		{"projected volumes", "{volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: n, fieldRef: {fieldPath: metadata.name}}]}}]}}, {name: b, downwardAPI: {items: [{path: n, fieldRef: {fieldPath: metadata.name}}]}}]}", []string{"volumes"}, "[{name: a, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: n, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}]}}, {name: b, downwardAPI: {defaultMode: 420, items: [{path: n, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}]"},
		{"images and claims", "{volumes: [{name: a, image: {reference: 'i:1'}}, {name: b, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}, {name: c, ephemeral: {}}]}", []string{"volumes"}, "[{name: a, image: {reference: 'i:1', pullPolicy: IfNotPresent}}, {name: b, ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOnce], resources: {}, volumeMode: Filesystem}}}}, {name: c, ephemeral: {}}]"},
		{"disks", "{volumes: [{name: a, iscsi: {targetPortal: p, iqn: q, lun: 0}}, {name: b, rbd: {monitors: [m], image: i, pool: own}}, {name: c, azureDisk: {diskName: d, diskURI: u}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {name: r}}}]}", []string{"volumes"}, "[{name: a, iscsi: {targetPortal: p, iqn: q, lun: 0, iscsiInterface: default}}, {name: b, rbd: {monitors: [m], image: i, pool: own, user: admin, keyring: /etc/ceph/keyring}}, {name: c, azureDisk: {diskName: d, diskURI: u, cachingMode: ReadWrite, kind: Shared, fsType: ext4, readOnly: false}}, {name: d, scaleIO: {gateway: g, system: s, secretRef: {name: r}, storageMode: ThinProvisioned, fsType: xfs}}]"},
	} {
		var template corev1.PodTemplateSpec
		if _, err := tree.Decode(parse(t, c.in), &template.Spec); err != nil {
			t.Fatal(c.name, err)
		}
		kruise.DefaultTemplate(&template)
		once := tree.Value(tree.Get(tree.FromValue(template.Spec), c.path...))
		if diff := cmp.Diff(plain(tree.Value(parse(t, c.want))), plain(once)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		kruise.DefaultTemplate(&template)
		if diff := cmp.Diff(once, tree.Value(tree.Get(tree.FromValue(template.Spec), c.path...))); diff != "" {
			t.Errorf("%s: a second time changes it\n%s", c.name, diff)
		}
	}
}

// plain leaves the number types of the two ways of decoding out of account.
func plain(v any) any { return tree.Value(tree.FromValue(v)) }

// TestDefaultStored: who sets the pull policy decides, and DaemonSets of Kruise
// are not touched.
func TestDefaultStored(t *testing.T) {
	containers := []corev1.Container{{Name: "main", Image: "web:1"}}
	clone, set, daemon := &kruise.CloneSet{}, &kruise.StatefulSet{}, &kruise.DaemonSet{}
	deployment, replicas, native, agents := &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}
	for _, c := range []struct {
		name     string
		obj      any
		template *corev1.PodTemplateSpec
		pull     corev1.PullPolicy
		dns      corev1.DNSPolicy
	}{
		{"CloneSet", clone, &clone.Spec.Template, "Always", "ClusterFirst"},
		{"Advanced StatefulSet", set, &set.Spec.Template, "Always", "ClusterFirst"},
		{"Advanced DaemonSet", daemon, &daemon.Spec.Template, "", ""},
		{"Deployment", deployment, &deployment.Spec.Template, "IfNotPresent", "ClusterFirst"},
		{"ReplicaSet", replicas, &replicas.Spec.Template, "IfNotPresent", "ClusterFirst"},
		{"StatefulSet", native, &native.Spec.Template, "IfNotPresent", "ClusterFirst"},
		{"DaemonSet", agents, &agents.Spec.Template, "IfNotPresent", "ClusterFirst"},
	} {
		c.template.Spec.Containers = append([]corev1.Container(nil), containers...)
		kruise.DefaultStored(c.obj)
		if got := c.template.Spec.Containers[0].ImagePullPolicy; got != c.pull {
			t.Errorf("%s: pull policy %q, want %q", c.name, got, c.pull)
		}
		if got := c.template.Spec.DNSPolicy; got != c.dns {
			t.Errorf("%s: DNS policy %q, want %q", c.name, got, c.dns)
		}
	}
}

// TestDefault_FillsStrategiesOfNativeKinds: the strategies that apps/v1 fills in.
func TestDefault_FillsStrategiesOfNativeKinds(t *testing.T) {
	for _, c := range []struct {
		name string
		obj  any
		in   string
		path []string
		want string
	}{
		{"a Deployment rolls", &appsv1.Deployment{}, "{}", []string{"spec", "strategy"}, "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 25%}}"},
		{"a Deployment that recreates", &appsv1.Deployment{}, "{spec: {strategy: {type: Recreate}}}", []string{"spec", "strategy"}, "{type: Recreate}"},
		{"a Deployment has a deadline", &appsv1.Deployment{}, "{spec: {replicas: 0}}", []string{"spec", "progressDeadlineSeconds"}, "600"},
		{"replicas 0 stays", &appsv1.Deployment{}, "{spec: {replicas: 0}}", []string{"spec", "replicas"}, "0"},
		{"a ReplicaSet has one pod", &appsv1.ReplicaSet{}, "{}", []string{"spec", "replicas"}, "1"},
		{"a StatefulSet", &appsv1.StatefulSet{}, "{}", []string{"spec", "updateStrategy"}, "{type: RollingUpdate, rollingUpdate: {partition: 0}}"},
		{"a StatefulSet keeps claims", &appsv1.StatefulSet{}, "{spec: {persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}}}", []string{"spec", "persistentVolumeClaimRetentionPolicy"}, "{whenDeleted: Retain, whenScaled: Delete}"},
		{"a StatefulSet on delete", &appsv1.StatefulSet{}, "{spec: {updateStrategy: {type: OnDelete}}}", []string{"spec", "updateStrategy"}, "{type: OnDelete}"},
		{"a DaemonSet", &appsv1.DaemonSet{}, "{}", []string{"spec", "updateStrategy"}, "{type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}"},
		{"an account has two names", &appsv1.DaemonSet{}, "{spec: {template: {spec: {serviceAccountName: a}}}}", []string{"spec", "template", "spec", "serviceAccount"}, "a"},
		{"the older name counts", &appsv1.DaemonSet{}, "{spec: {template: {spec: {serviceAccount: a}}}}", []string{"spec", "template", "spec", "serviceAccountName"}, "a"},
	} {
		if _, err := tree.Decode(parse(t, c.in), c.obj); err != nil {
			t.Fatal(c.name, err)
		}
		kruise.DefaultStored(c.obj)
		got := tree.Value(tree.Get(tree.FromValue(c.obj), c.path...))
		if diff := cmp.Diff(plain(tree.Value(parse(t, c.want))), plain(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}

// TestDefaultSidecars: of the probes of sidecars, the startupProbe gets nothing.
func TestDefaultSidecars(t *testing.T) {
	ask := &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
	container := kruise.SidecarContainer{Container: corev1.Container{Name: "a", LivenessProbe: ask.DeepCopy(), ReadinessProbe: ask.DeepCopy(), StartupProbe: ask.DeepCopy()}}
	set := &kruise.SidecarSet{Spec: kruise.SidecarSetSpec{Containers: []kruise.SidecarContainer{container}}}
	kruise.DefaultStored(set)
	for name, c := range map[string]struct {
		probe *corev1.Probe
		want  int32
	}{
		"liveness":  {set.Spec.Containers[0].LivenessProbe, 10},
		"readiness": {set.Spec.Containers[0].ReadinessProbe, 10},
		"startup":   {set.Spec.Containers[0].StartupProbe, 0},
	} {
		if c.probe.PeriodSeconds != c.want {
			t.Errorf("%s: every %d seconds, want %d", name, c.probe.PeriodSeconds, c.want)
		}
	}
}

// TestDefaultRecreate: ports are kept only for a hook that may name them.
func TestDefaultRecreate(t *testing.T) {
	var pod corev1.Pod
	if _, err := tree.Decode(parse(t, `
metadata: {uid: u}
spec:
  nodeName: n
  terminationGracePeriodSeconds: 7
  containers:
  - {name: app, ports: [{name: http, containerPort: 80}], lifecycle: {preStop: {httpGet: {port: http}}}}
  - {name: side, ports: [{containerPort: 81}], lifecycle: {preStop: {exec: {command: [x]}}}}
  - {name: plain, ports: [{containerPort: 82}]}
status: {containerStatuses: [{name: app, containerID: "x://1", restartCount: 3}]}
`), &pod); err != nil {
		t.Fatal(err)
	}
	var got kruise.ContainerRecreateRequest
	if _, err := kruise.Decode(parse(t, "{spec: {podName: p, containers: [{name: app}, {name: side}, {name: plain}]}}"), &got); err != nil {
		t.Fatal(err)
	}
	kruise.DefaultRecreate(&got, &pod)
	want := tree.Value(parse(t, `
metadata: {labels: {crr.apps.kruise.io/active: "true", crr.apps.kruise.io/node-name: n, crr.apps.kruise.io/pod-uid: u}}
spec:
  podName: p
  strategy: {failurePolicy: Fail, terminationGracePeriodSeconds: 7}
  containers:
  - {name: app, preStop: {httpGet: {port: http}}, ports: [{name: http, containerPort: 80}], statusContext: {containerID: "x://1", restartCount: 3}}
  - {name: side, preStop: {exec: {command: [x]}}}
  - {name: plain}
`))
	if diff := cmp.Diff(want, tree.Value(tree.FromValue(&got))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestRecreateOn: only virtual nodes differ.
func TestRecreateOn(t *testing.T) {
	for _, labels := range []map[string]string{nil, {"type": "large"}, {"type": "virtual-kubelet", "zone": "a"}} {
		var got kruise.ContainerRecreateRequest
		kruise.RecreateOn(&got, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: labels}})
		if virtual := labels["type"] == "virtual-kubelet"; virtual != (got.Labels["type"] != "") || len(got.Labels) > 1 {
			t.Errorf("node %v: %v", labels, got.Labels)
		}
	}
}
