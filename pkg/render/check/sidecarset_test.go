package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// whitelisted is a ConfigMap with a rule for every set and one for some.
const whitelisted = `
apiVersion: v1
kind: ConfigMap
metadata: {name: kruise-configuration, namespace: kruise-system}
data:
  SidecarSet_PatchPodMetadata_WhiteList: '{"rules":[{"allowedAnnotationKeyExprs":["^obs\\.example\\.com/"]},
    {"selector":{"matchLabels":{"team":"platform"}},"allowedAnnotationKeyExprs":["^platform/"]}]}'
`

// checkedSets checks SidecarSets with all findings of weight.
func checkedSets(t *testing.T, in, context string, expand bool) ([]string, error) {
	t.Helper()
	stream := golden.Parse(t, in)
	c := stage.New(resource.NewFacts(stream, golden.Parse(t, context), ""), stage.Options{Expand: func(string) bool { return expand }})
	_, err := check.Run(c, stream)
	var ids []string
	for _, f := range c.Findings.Findings() {
		ids = append(ids, f.ID)
	}
	return ids, err
}

const goodSet = `
apiVersion: apps.kruise.io/v1beta1
kind: SidecarSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {type: RollingUpdate}
  volumes: [{name: v, emptyDir: {}}]
  containers:
  - name: agent
    image: agent:1
    volumeMounts: [{name: v, mountPath: /v}]
`

func TestSidecarSet_Refused(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"good", "", "", ""},
		{"upper case", "{name: agent}", "{name: Agent}", "metadata.name"},
		{"no selector", "  selector: {matchLabels: {app: web}}\n", "", "spec.selector: required"},
		{"bad operator", "{matchLabels: {app: web}}", "{matchExpressions: [{key: a, operator: Like}]}", "Like"},
		{"wrong type", "{app: web}", "[web]", "spec.selector.matchLabels"},
		{"unknown field", "  updateStrategy", "  updateStrategies", "spec.updateStrategies: unknown field"},
		{"unknown field of a container stays", "    image: agent:1", "    image: agent:1\n    newInKubernetes: 1", ""},
		{"no containers", "containers:", "sidecars:", "a SidecarSet needs containers"},
		{"no image", "    image: agent:1\n", "", "spec.containers[0].image: required"},
		{"bad container name", "name: agent\n", "name: Agent_1\n", "spec.containers[0].name"},
		{"mount of no volume", "[{name: v, mountPath", "[{name: w, mountPath", `spec.containers[0].volumeMounts[0].name: there is no "w"`},
		{"env without a name", "    image: agent:1", "    image: agent:1\n    env: [{value: x}]", "spec.containers[0].env[0].name"},
		{"request above the limit", "    image: agent:1", "    image: agent:1\n    resources: {limits: {cpu: 1}, requests: {cpu: 2}}", "spec.containers[0].resources.requests"},
		{"space before an image", "image: agent:1", "image: ' agent:1'", "spec.containers[0].image"},
		{"volume of two sources", "emptyDir: {}", "emptyDir: {}, hostPath: {path: /x}", "spec.volumes[0]"},
		{"volume of no name of its source", "emptyDir: {}", "configMap: {}", "spec.volumes[0].configMap.name"},
		{"mount out of the volume", "mountPath: /v", "mountPath: /v, subPath: ../x", "spec.containers[0].volumeMounts[0].subPath"},
		{"restart of a container", "    image: agent:1", "    image: agent:1\n    restartPolicy: Always", "spec.containers[0].restartPolicy"},
		{"probe of an init container", "  containers:", "  initContainers: [{name: i, image: i, livenessProbe: {tcpSocket: {port: 1}}}]\n  containers:", "spec.initContainers[0].livenessProbe"},
		{"hook of an init container", "  containers:", "  initContainers: [{name: i, image: i, lifecycle: {preStop: {exec: {command: [x]}}}}]\n  containers:", "spec.initContainers[0].lifecycle"},
		{"resource of no name", "    image: agent:1", "    image: agent:1\n    resources: {limits: {gpu: 1}}", "spec.containers[0].resources.limits[gpu]"},
		{"probe of nothing", "    image: agent:1", "    image: agent:1\n    livenessProbe: {periodSeconds: 5}", "spec.containers[0].livenessProbe"},
		{"probe in two ways", "    image: agent:1", "    image: agent:1\n    readinessProbe: {tcpSocket: {port: 1}, exec: {command: [x]}}", "spec.containers[0].readinessProbe"},
		{"no mount path", ", mountPath: /v", "", "volumeMounts[0].mountPath: required"},
		{"path twice", "mountPath: /v}]", "mountPath: /v}, {name: v, mountPath: /v}]", "volumeMounts[1].mountPath"},
		{"volume twice", "emptyDir: {}}]", "emptyDir: {}}, {name: v}]", "spec.volumes[1].name"},
		{"name in both lists", "  containers:", "  initContainers: [{name: agent, image: a}]\n  containers:", "spec.initContainers[0].name"},
		{"native with RollingUpdate", "  containers:", "  initContainers: [{name: n, image: a, restartPolicy: Always}]\n  containers:", "spec.initContainers[0].restartPolicy"},
		{"both priorities", "{type: RollingUpdate}", "{priorityStrategy: {weightPriority: [{weight: 1}], orderPriority: [{orderedKey: a}]}}", "are mutually exclusive"},
		{"weight", "{type: RollingUpdate}", "{priorityStrategy: {weightPriority: [{weight: 101}]}}", "weightPriority[0].weight"},
		{"order key", "{type: RollingUpdate}", "{priorityStrategy: {orderPriority: [{orderedKey: ''}]}}", "orderPriority[0].orderedKey"},
		{"scatter key", "{type: RollingUpdate}", "{scatterStrategy: [{key: '', value: a}]}", "scatterStrategy[0].key"},
		{"scatter twice", "{type: RollingUpdate}", "{scatterStrategy: [{key: k, value: a}, {key: k, value: a}]}", "scatterStrategy[1]"},
		{"no percentage", "{type: RollingUpdate}", "{maxUnavailable: some}", "spec.updateStrategy.maxUnavailable"},
		{"NotUpdate skips them", "{type: RollingUpdate}", "{type: NotUpdate, maxUnavailable: some}", ""},
		{"empty update selector", "{type: RollingUpdate}", "{selector: {}}", "spec.updateStrategy.selector"},
		{"revision without a name", "  volumes", "  injectionStrategy: {revision: {policy: Always}}\n  volumes", "revisionName or customVersion"},
		{"revision policy", "  volumes", "  injectionStrategy: {revision: {revisionName: r, policy: Never}}\n  volumes", "revision.policy"},
		{"empty regex", "    image: agent:1", "    image: agent:1\n    resourcesPolicy: {targetContainersMode: sum, targetContainersNameRegex: '', resourcesExpr: {limits: {cpu: cpu}}}", "targetContainersNameRegex"},
		{"bad regex", "    image: agent:1", "    image: agent:1\n    resourcesPolicy: {targetContainersMode: sum, targetContainersNameRegex: '(', resourcesExpr: {limits: {cpu: cpu}}}", "targetContainersNameRegex"},
		{"no annotations", "  volumes", "  patchPodMetadata: [{patchPolicy: Retain}]\n  volumes", "patchPodMetadata[0].annotations: required"},
		{"not allowed", "  volumes", "  patchPodMetadata: [{annotations: {platform/x: a}}]\n  volumes", "does not allow annotation platform/x"},
		{"own canary", "{name: agent}", "{name: agent, annotations: {apps.kruise.io/sidecarset-canary: 'true', apps.kruise.io/sidecarset-base: agent}}", "its own canary"},
		{"canary of nothing", "{name: agent}", "{name: agent, annotations: {apps.kruise.io/sidecarset-canary: 'true'}}", "needs a base"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(goodSet, tt.old) {
				t.Fatalf("the good set has no %q", tt.old)
			}
			_, err := checkedSets(t, strings.Replace(goodSet, tt.old, tt.new, 1), whitelisted, true)
			if tt.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestSidecarSet_AnnotationAllowedByLabel: a rule of the whitelist may ask for labels of
// the set.
func TestSidecarSet_AnnotationAllowedByLabel(t *testing.T) {
	set := strings.Replace(goodSet, "{name: agent}", "{name: agent, labels: {team: platform}}", 1)
	set = strings.Replace(set, "  volumes", "  patchPodMetadata: [{annotations: {platform/x: a}}]\n  volumes", 1)
	if _, err := checkedSets(t, set, whitelisted, true); err != nil {
		t.Error(err)
	}
	ids, err := checkedSets(t, set, "", true)
	if err != nil || len(ids) != 1 || ids[0] != "sidecarset/whitelist-unknown" {
		t.Errorf("without a whitelist: %v, findings %v", err, ids)
	}
}

func TestSidecarSet_RevisionUnknown(t *testing.T) {
	set := strings.Replace(goodSet, "  volumes", "  injectionStrategy: {revision: {revisionName: agent-1}}\n  volumes", 1)
	if ids, err := checkedSets(t, set, "", false); err != nil || len(ids) != 1 {
		t.Errorf("a set that stays: %v, findings %v", err, ids)
	}
	if _, err := checkedSets(t, set, "", true); err == nil {
		t.Error("a set that is to be injected passed without its revision")
	}
	stored := `{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: agent-1, namespace: kruise-system, labels: {kruise.io/sidecarset-name: agent}}, revision: 1, data: {spec: {containers: []}}}`
	if _, err := checkedSets(t, set, stored, true); err != nil {
		t.Error(err)
	}
}

func TestSidecarSet_Conflicts(t *testing.T) {
	other := func(name, selector, rest string) string {
		return "---\n{apiVersion: apps.kruise.io/v1alpha1, kind: SidecarSet, metadata: {name: " + name + "}, spec: {selector: {" + selector + "}, " + rest + "}}\n"
	}
	const same = "containers: [{name: agent, image: x}]"
	for _, tt := range []struct{ name, stream, context, want string }{
		{"container", other("b", "matchLabels: {tier: x}", same), "", "SidecarSet b: spec.containers: container agent is also in SidecarSet agent"},
		{"one that exists", "", other("b", "matchLabels: {tier: x}", same), "SidecarSet agent: spec.containers: container agent is also in SidecarSet b"},
		{"replaced by the input", other("b", "matchLabels: {tier: x}", "containers: [{name: b, image: x}]"), other("b", "matchLabels: {tier: x}", "containers: [{name: b, image: x}, {name: agent, image: x}]"), ""},
		{"disjoint by label", other("b", "matchLabels: {app: db}", same), "", ""},
		{"disjoint by NotIn", other("b", "matchExpressions: [{key: app, operator: NotIn, values: [web]}]", same), "", ""},
		{"disjoint by DoesNotExist", other("b", "matchExpressions: [{key: app, operator: DoesNotExist}]", same), "", ""},
		{"Exists of another key counts as disjoint", other("b", "matchExpressions: [{key: tier, operator: Exists}]", same), "", ""},
		{"Exists of the same key", other("b", "matchExpressions: [{key: app, operator: Exists}]", same), "", "is also in"},
		{"init containers are apart", other("b", "matchLabels: {tier: x}", "initContainers: [{name: agent, image: x}]"), "", ""},
		{"same volume", other("b", "matchLabels: {tier: x}", "volumes: [{name: v, emptyDir: {}}], containers: [{name: b, image: x}]"), "", ""},
		{"other volume", other("b", "matchLabels: {tier: x}", "volumes: [{name: v, hostPath: {path: /}}], containers: [{name: b, image: x}]"), "", "volume v"},
		{"canary and base", strings.Replace(other("b", "matchLabels: {tier: x}", "updateStrategy: {type: NotUpdate}, "+same), "{name: b}", "{name: b, annotations: {apps.kruise.io/sidecarset-canary: 'true', apps.kruise.io/sidecarset-base: agent}}", 1), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := checkedSets(t, goodSet+tt.stream, tt.context, true)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q", err, tt.want)
			case tt.want != "" && strings.Count(err.Error(), "\n") > 0:
				t.Errorf("both sides are at fault: %v", err)
			}
		})
	}
}

func TestSidecarSet_IgnoredValues(t *testing.T) {
	for change, want := range map[string]string{
		"    podInjectPolicy: X":                                                    "sidecarset/ignored-value",
		"    upgradeStrategy: {upgradeType: Warm}":                                  "sidecarset/ignored-value",
		"    upgradeStrategy: {upgradeType: HotUpgrade}\n    restartPolicy: Always": "sidecarset/no-empty-image",
	} {
		set := strings.Replace(goodSet, "  containers:", "  initContainers:", 1)
		set = strings.Replace(set, "type: RollingUpdate", "type: NotUpdate", 1) + change + "\n"
		if ids, err := checkedSets(t, set, "", true); err != nil || len(ids) != 1 || ids[0] != want {
			t.Errorf("%s: %v, findings %v, want %s", change, err, ids, want)
		}
	}
}

// TestSidecarSet_VolumesEqualStoredOnes: what Kubernetes fills in is no other content.
func TestSidecarSet_VolumesEqualStoredOnes(t *testing.T) {
	set := func(name, volume string) string {
		return "---\n{apiVersion: apps.kruise.io/v1beta1, kind: SidecarSet, metadata: {name: " + name + "}, spec: {selector: {matchLabels: {app: web}}, " +
			"volumes: [{name: v, " + volume + "}], containers: [{name: " + name + ", image: x}]}}\n"
	}
	for _, tt := range []struct {
		written, stored string
		same            bool
	}{
		{"hostPath: {path: /x}", "hostPath: {path: /x, type: ''}", true},
		{"configMap: {name: c}", "configMap: {name: c, defaultMode: 420}", true},
		{"secret: {secretName: c}", "secret: {defaultMode: 420, secretName: c}", true},
		{"downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}", "downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}", true},
		{"projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}]}", "projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}]}", true},
		{"emptyDir: {sizeLimit: 1Gi}", "emptyDir: {sizeLimit: 1024Mi}", true},
		{"configMap: {name: c}", "configMap: {name: c, defaultMode: 384}", false},
		{"configMap: {name: c}", "configMap: {name: d}", false},
		{"newInKubernetes: {a: 1}", "newInKubernetes: {a: 2}", false},
		{"newInKubernetes: {a: 1}", "newInKubernetes: {a: 1}", true},
	} {
		t.Run(tt.stored, func(t *testing.T) {
			if _, err := checkedSets(t, set("a", tt.written), set("b", tt.stored), true); (err == nil) != tt.same {
				t.Errorf("%s: %v, want no conflict: %v", tt.written, err, tt.same)
			}
		})
	}
}
