package check_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/check"
)

const (
	ofAlpha  = "apiVersion: apps.kruise.io/v1alpha1\n"
	ofBeta   = "apiVersion: apps.kruise.io/v1beta1\n"
	owning   = "selector: {matchLabels: {app: web}}, " + podOf
	formed   = ofAlpha + "kind: UnitedDeployment\nmetadata: {name: web}\nspec: {replicas: 4, selector: {matchLabels: {app: web}}, topology: {subsets: [{name: a, replicas: 2}, {name: b}]}, template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {updateStrategy: FORM, " + owning + "}}}}\n"
	sidecars = ofAlpha + "kind: SidecarSet\nmetadata: {name: s}\nspec: {selector: {matchLabels: {app: web}}, initContainers: [{name: i, image: 'a:1', restartPolicy: Always}], containers: [{name: c, image: 'a:1', resourcesPolicy: {targetContainersMode: Foo}}]}\n"
)

// TestRelease_Rules: what a release refuses, what it drops, and what is only a warning
// where the release is not known; each rule has a neighbour that is taken.
func TestRelease_Rules(t *testing.T) {
	form := func(text string) string { return strings.Replace(formed, "FORM", text, 1) }
	const deadline = ofAlpha + "kind: CloneSet\nmetadata: {name: web}\nspec: {progressDeadlineSeconds: 600, " + owning + "}\n"
	const percent = ofAlpha + "kind: DaemonSet\nmetadata: {name: web}\nspec: {updateStrategy: {rollingUpdate: {partition: 50%}}, " + owning + "}\n"
	const ordinals = ofBeta + "kind: StatefulSet\nmetadata: {name: web}\nspec: {serviceName: web, reserveOrdinals: ['1-3'], " + owning + "}\n"
	const negative = ofBeta + "kind: StatefulSet\nmetadata: {name: web}\nspec: {serviceName: web, ordinals: {start: -1}, " + owning + "}\n"
	for _, c := range []struct{ name, release, object, want string }{
		{"a field that came", "1.8.4", deadline, "object/field-of-another-release spec.progressDeadlineSeconds"},
		{"a field that is there", "1.9.0", deadline, ""},
		{"no release", "", deadline, ""},
		{"v1beta1 of no release", "", object("CloneSet", owning), "object/version-not-served apiVersion (accepted)"},
		{"v1beta1 of no release", "1.9", object("CloneSet", owning), "object/version-not-served apiVersion"},
		{"v1beta1 of no release", "next", object("CloneSet", owning), ""},
		{"v1beta1 of 1.9", "1.8", object("BroadcastJob", podOf), "object/version-not-served apiVersion, broadcastjob/restart-policy-invalid spec.template.spec.restartPolicy"},
		{"v1beta1 of 1.9", "", object("StatefulSet", "serviceName: web, "+owning), ""},
		{"v1beta1 of all", "1.5", object("StatefulSet", "serviceName: web, "+owning), ""},
		{"a kind that came", "1.4", ofAlpha + "kind: ImageListPullJob\nmetadata: {name: j}\nspec: {images: ['a:1'], completionPolicy: {type: Always}}\n", "object/version-not-served kind"},
		{"dropped, and not looked at", "1.6", sidecars, "object/field-dropped-by-release spec.containers[0].resourcesPolicy (accepted), object/field-dropped-by-release spec.initContainers[0].restartPolicy (accepted)"},
		{"dropped in part", "1.8", sidecars, "object/field-dropped-by-release spec.containers[0].resourcesPolicy (accepted), sidecarset/container-invalid spec.initContainers[0].restartPolicy"},
		{"not dropped", "1.9", sidecars, "sidecarset/container-invalid spec.initContainers[0].restartPolicy, sidecarset/container-invalid spec.containers[0].resourcesPolicy.resourcesExpr, sidecarset/container-invalid spec.containers[0].resourcesPolicy.targetContainersMode"},
		{"older form", "", form("{type: InPlaceIfPossible, partition: 1}"), ""},
		{"older form", "1.5", form("{type: InPlaceIfPossible, partition: 1}"), ""},
		{"older form", "1.9", form("{type: InPlaceIfPossible, partition: 1}"), ""},
		{"older form", "next", form("{type: InPlaceIfPossible, partition: 1}"), "object/unknown-field spec.template.cloneSetTemplate.spec.updateStrategy.partition, uniteddeployment/template-invalid spec.template.cloneSetTemplate.spec.updateStrategy.type"},
		{"newer form", "1.9", form("{rollingUpdate: {partition: 1}}"), "object/field-of-another-release spec.template.cloneSetTemplate.spec.updateStrategy.rollingUpdate"},
		{"newer form", "", form("{rollingUpdate: {partition: 1}}"), "object/field-of-another-release spec.template.cloneSetTemplate.spec.updateStrategy.rollingUpdate (accepted)"},
		{"newer form", "next", form("{rollingUpdate: {partition: 1}}"), ""},
		{"a misspelt field of the older form", "1.8", form("{partitoin: 1, maxSurge: 1}"), "object/unknown-field spec.template.cloneSetTemplate.spec.updateStrategy.partitoin"},
		{"a wrong type in the older form", "1.8", form("{maxSurge: [1]}"), "object/wrong-type spec.template.cloneSetTemplate.spec.updateStrategy.maxSurge"},
		{"a percentage that came", "1.8", percent, "object/field-of-another-release spec.updateStrategy.rollingUpdate.partition"},
		{"a percentage that is there", "1.9", percent, ""},
		{"a field that came, with a value that is warned of", "1.5", negative, "object/field-of-another-release spec.ordinals, statefulset/number-negative spec.ordinals.start (accepted)"},
		{"the same where it is there", "1.7", negative, "statefulset/number-negative spec.ordinals.start (accepted)"},
		{"ranges that came", "1.7", ordinals, "object/field-of-another-release spec.reserveOrdinals[0]"},
		{"ranges that are there", "1.8", ordinals, ""},
		{"a variable's name", "1.9", object("CloneSet", strings.Replace(owning, "{name: web,", "{name: web, env: [{name: 1A}],", 1)), "object/version-not-served apiVersion, pod/template-invalid spec.template.spec.containers[0].env[0].name"},
		{"a variable's name", "", object("DaemonSet", strings.Replace(owning, "{name: web,", "{name: web, env: [{name: 1A}],", 1)), "pod/template-invalid spec.template.spec.containers[0].env[0].name"},
		{"a volume that came later", "1.8", ofAlpha + "kind: CloneSet\nmetadata: {name: web}\nspec: {" + strings.Replace(owning, "spec: {", "spec: {volumes: [{name: v, image: {reference: a}}], ", 1) + "}\n", ""},
		{"a volume that came later", "1.9", ofAlpha + "kind: CloneSet\nmetadata: {name: web}\nspec: {" + strings.Replace(owning, "spec: {", "spec: {volumes: [{name: v, image: {reference: a}}], ", 1) + "}\n", "pod/template-invalid spec.template.spec.volumes[0].image.pullPolicy"},
		{"operations with a space", "1.9", "apiVersion: policy.kruise.io/v1alpha1\nkind: PodUnavailableBudget\nmetadata: {name: web, annotations: {kruise.io/pub-protect-operations: 'DELETE, UPDATE'}}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n", "podunavailablebudget/operations-invalid metadata.annotations[kruise.io/pub-protect-operations]"},
		{"a system", "1.5", ofAlpha + "kind: CloneSet\nmetadata: {name: web}\nspec: {" + strings.Replace(owning, "spec: {", "spec: {os: {name: linux}, ", 1) + "}\n", "pod/template-invalid spec.template.spec.os"},
		{"a system that is there", "1.8", ofAlpha + "kind: CloneSet\nmetadata: {name: web}\nspec: {" + strings.Replace(owning, "spec: {", "spec: {os: {name: linux}, ", 1) + "}\n", ""},
		{"a system nobody looks at", "1.5", object("StatefulSet", "serviceName: web, "+strings.Replace(owning, "spec: {", "spec: {os: {name: linux}, ", 1)), ""},
		{"a field that went", "1.8", strings.Replace(form("{}"), "topology: {", "topology: {scheduleStrategy: {type: Adaptive, adaptive: {unschedulableLastSeconds: 3}}, ", 1), "uniteddeployment/topology-invalid spec.topology.subsets[0].replicas (accepted)"},
		{"a field that went", "1.9", strings.Replace(form("{}"), "topology: {", "topology: {scheduleStrategy: {type: Adaptive, adaptive: {unschedulableLastSeconds: 3}}, ", 1), "object/field-of-another-release spec.topology.scheduleStrategy.adaptive.unschedulableLastSeconds, uniteddeployment/topology-invalid spec.topology.subsets[0].replicas"},
	} {
		t.Run(c.name+" "+c.release, func(t *testing.T) {
			in := golden.Parse(t, c.object)
			ctx := newContext(in, nil)
			ctx.Kruise = kruise.Release{}
			if c.release != "" {
				var err error
				if ctx.Kruise, err = kruise.ParseRelease(c.release); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]bool{}
			for _, f := range check.Object(ctx, check.Request{Object: in[0]}) {
				text := f.Rule + " " + f.Field
				if f.Accepted {
					text += " (accepted)"
				}
				got[text] = true
			}
			want := map[string]bool{}
			for text := range strings.SplitSeq(c.want, ", ") {
				if text != "" {
					want[text] = true
				}
			}
			for text := range got {
				if !want[text] {
					t.Errorf("not wanted: %s", text)
				}
			}
			for text := range want {
				if !got[text] {
					t.Errorf("missing: %s", text)
				}
			}
		})
	}
}
