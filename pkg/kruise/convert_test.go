package kruise_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// one is an object in one version, and what it becomes in the other.
type one struct {
	name, in, want string
	// lost are the paths that the conversion reports.
	lost []string
}

// written prepends apiVersion and kind.
func written(t *testing.T, kind, version, text string) *tree.Node {
	t.Helper()
	n := parse(t, text)
	group := kruise.Group
	if kind == "PodUnavailableBudget" {
		group = kruise.PolicyGroup
	}
	tree.Set(n, "apiVersion", tree.String(group+"/"+version))
	tree.Set(n, "kind", tree.String(kind))
	return n
}

func check(t *testing.T, kind, from, to string, cases []one) {
	t.Helper()
	for _, c := range cases {
		t.Run(kind+" "+c.name, func(t *testing.T) {
			in := written(t, kind, from, c.in)
			before := tree.Clone(in)
			got, lost, err := kruise.FromHub(in, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree.Value(written(t, kind, to, c.want)), tree.Value(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			var paths []string
			for _, l := range lost {
				paths = append(paths, l.Path)
				if l.Why == "" {
					t.Errorf("%s is lost for no reason", l.Path)
				}
			}
			if diff := cmp.Diff(c.lost, paths); diff != "" {
				t.Errorf("lost: -want +got:\n%s", diff)
			}
			if !tree.Equal(before, in) {
				t.Error("the object read was changed")
			}
		})
	}
}

func TestToHub(t *testing.T) {
	up := func(kind string, cases ...one) { check(t, kind, kruise.V1alpha1, kruise.V1beta1, cases) }
	up("CloneSet",
		one{"nothing said", `{spec: {}}`, `{spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {podUpdatePolicy: ReCreate}}, scaleStrategy: {enablePVCReuse: true}}}`, nil},
		one{"OnDelete keeps no rolling update", `{spec: {scaleStrategy: {disablePVCReuse: true}, updateStrategy: {type: OnDelete, partition: 1}}}`, `{spec: {updateStrategy: {type: OnDelete}}}`, []string{"spec.updateStrategy.partition"}},
		one{"the label", `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {scaleStrategy: {disablePVCReuse: true}}}`, `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {scaleStrategy: {excludePreparingDelete: true}, updateStrategy: {type: RollingUpdate, rollingUpdate: {podUpdatePolicy: ReCreate}}}}`, nil},
		one{
			"annotations win", `{metadata: {annotations: {apps.kruise.io/image-predownload-parallelism: 10%, apps.kruise.io/image-predownload-timeout-seconds: "9", apps.kruise.io/image-predownload-min-updated-ready-pods: many}}, spec: {scaleStrategy: {disablePVCReuse: true}, updateStrategy: {inPlaceUpdateStrategy: {gracePeriodSeconds: 3, imagePreDownloadTimeoutSeconds: 5}}}}`,
			`{metadata: {annotations: {apps.kruise.io/image-predownload-parallelism: 10%, apps.kruise.io/image-predownload-timeout-seconds: "9", apps.kruise.io/image-predownload-min-updated-ready-pods: many}}, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {podUpdatePolicy: ReCreate, inPlaceUpdateStrategy: {gracePeriodSeconds: 3, imagePreDownloadParallelism: 10%, imagePreDownloadTimeoutSeconds: 9}}}}}`, nil,
		},
		one{
			"fields of the newer version are dropped", `{spec: {scaleStrategy: {disablePVCReuse: true, excludePreparingDelete: true}, updateStrategy: {rollingUpdate: {partition: 3, podUpdatePolicy: InPlaceOnly}, partition: 1}}}`, `{spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {podUpdatePolicy: ReCreate, partition: 1}}}}`,
			[]string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy", "spec.updateStrategy.rollingUpdate.partition", "spec.scaleStrategy.excludePreparingDelete"},
		},
		one{"unknown fields survive", `{extra: 1, spec: {more: {a: 1}, scaleStrategy: {disablePVCReuse: true, other: x}, updateStrategy: {odd: true}}}`, `{extra: 1, spec: {more: {a: 1}, scaleStrategy: {other: x}, updateStrategy: {odd: true, type: RollingUpdate, rollingUpdate: {podUpdatePolicy: ReCreate}}}}`, nil},
	)
	up("SidecarSet",
		one{"one namespace", `{spec: {namespace: shop}}`, `{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, nil},
		one{"it wins", `{spec: {namespace: shop, namespaceSelector: {matchLabels: {a: b}}}}`, `{spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}`, []string{"spec.namespaceSelector"}},
		one{"an empty one says nothing", `{spec: {namespace: "", namespaceSelector: {matchLabels: {a: b}}}}`, `{spec: {namespaceSelector: {matchLabels: {a: b}}}}`, nil},
		one{"custom version", `{metadata: {labels: {apps.kruise.io/sidecarset-custom-version: v1, a: b}}, spec: {customVersion: v0}}`, `{metadata: {labels: {a: b}}, spec: {customVersion: v1}}`, []string{"spec.customVersion"}},
	)
	up("DaemonSet",
		one{"surging", `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "yes"}}, spec: {updateStrategy: {rollingUpdate: {rollingUpdateType: Surging}}}, status: {daemonSetHash: x}}`, `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "yes"}}, spec: {updateStrategy: {rollingUpdate: {rollingUpdateType: Standard}}}, status: {updateRevision: x}}`, []string{"spec.updateStrategy.rollingUpdate.rollingUpdateType"}},
	)
	up("StatefulSet",
		one{"fields that v1alpha1 lacks", `{spec: {reserveOrdinals: [1], scaleStrategy: {}, updateStrategy: {rollingUpdate: {partition: 1}}}}`, `{spec: {updateStrategy: {rollingUpdate: {partition: 1}}}}`, []string{"spec.reserveOrdinals"}},
	)
	up("UnitedDeployment",
		one{"status by subset", `{status: {subsetReplicas: {a: 1, b: 2}, updateStatus: {updatedRevision: r, currentPartitions: {b: 3}}, subsetStatuses: [{name: b, replicas: 5}]}}`, `{status: {updatedRevision: r, subsetStatuses: [{name: b, replicas: 5, partition: 3}, {name: a, replicas: 1}]}}`, nil},
		one{"an empty update status", `{status: {updateStatus: {}}}`, `{status: {}}`, nil},
	)
	up("WorkloadSpread",
		one{"selectors", `{spec: {subsets: [{name: a, requiredNodeSelectorTerm: {x: 1}}, {preferredNodeSelectorTerms: []}, 7]}}`, `{spec: {subsets: [{name: a, requiredNodeSelector: {x: 1}}, {preferredNodeSelector: []}, 7]}}`, nil},
		one{"a selector of the newer version", `{spec: {subsets: [{}, {requiredNodeSelector: {x: 1}}]}, status: {versionedSubsetStatuses: {v: [{conditions: [{observedGeneration: 1, type: a}]}]}}}`, `{spec: {subsets: [{}, {}]}, status: {versionedSubsetStatuses: {v: [{conditions: [{type: a}]}]}}}`, []string{"spec.subsets[1].requiredNodeSelector", "status.versionedSubsetStatuses[v][0].conditions[0].observedGeneration"}},
	)
	up("PodUnavailableBudget",
		one{"annotations", `{metadata: {annotations: {kruise.io/pub-protect-operations: "DELETE, EVICT", pub.kruise.io/protect-total-replicas: "7"}}, spec: {protectTotalReplicas: 3}}`, `{metadata: {annotations: {kruise.io/pub-protect-operations: "DELETE, EVICT", pub.kruise.io/protect-total-replicas: "7"}}, spec: {protectOperations: [DELETE, EVICT], protectTotalReplicas: 7}}`, []string{"spec.protectTotalReplicas"}},
	)
	up("ContainerRecreateRequest",
		one{
			"annotations", `{metadata: {annotations: {crr.apps.kruise.io/sync-container-statuses: '[{"name":"a","ready":true,"restartCount":1}]', crr.apps.kruise.io/unready-acquired: "2026-01-02T03:04:05Z"}}, spec: {podName: a}}`,
			`{metadata: {}, spec: {podName: a}, status: {containerStatusSnapshot: [{name: a, ready: true, restartCount: 1}], conditions: [{type: PreRecreateGrace, status: "True", reason: PreRecreateGrace, message: "", lastTransitionTime: "2026-01-02T03:04:05Z"}]}}`, nil,
		},
		one{"text that is not JSON", `{metadata: {annotations: {crr.apps.kruise.io/sync-container-statuses: "{"}}}`, `{metadata: {annotations: {crr.apps.kruise.io/sync-container-statuses: "{"}}}`, nil},
	)
}

func TestFromHub(t *testing.T) {
	down := func(kind string, cases ...one) { check(t, kind, kruise.V1beta1, kruise.V1alpha1, cases) }
	down("CloneSet",
		one{"nothing said", `{spec: {}}`, `{spec: {updateStrategy: {type: ReCreate}, scaleStrategy: {disablePVCReuse: true}}}`, nil},
		one{"OnDelete keeps no rolling update", `{spec: {scaleStrategy: {enablePVCReuse: true}, updateStrategy: {type: OnDelete, rollingUpdate: {maxSurge: 1, podUpdatePolicy: ReCreate}}}}`, `{spec: {updateStrategy: {type: OnDelete}}}`, []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy", "spec.updateStrategy.rollingUpdate.maxSurge"}},
		one{"excludePreparingDelete without the label", `{spec: {scaleStrategy: {enablePVCReuse: true, excludePreparingDelete: true}}}`, `{spec: {updateStrategy: {type: ReCreate}}}`, []string{"spec.scaleStrategy.excludePreparingDelete"}},
		one{"with the label", `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {scaleStrategy: {enablePVCReuse: true, excludePreparingDelete: true}}}`, `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {updateStrategy: {type: ReCreate}}}`, nil},
		one{"the label without the field", `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {scaleStrategy: {enablePVCReuse: true, excludePreparingDelete: false}}}`, `{metadata: {labels: {apps.kruise.io/cloneset-scaling-exclude-preparing-delete: "true"}}, spec: {updateStrategy: {type: ReCreate}}}`, []string{"spec.scaleStrategy.excludePreparingDelete"}},
		one{"a field of the older version", `{spec: {scaleStrategy: {enablePVCReuse: true}, updateStrategy: {partition: 1, rollingUpdate: {partition: 2}}}}`, `{spec: {updateStrategy: {type: ReCreate, partition: 2}}}`, []string{"spec.updateStrategy.partition"}},
	)
	down("StatefulSet",
		one{"fields that v1alpha1 lacks", `{spec: {ordinals: {start: 1}, lifecycle: {}, replicas: 1}, status: {volumeClaims: [{}], replicas: 1}}`, `{spec: {replicas: 1}, status: {replicas: 1}}`, []string{"status.volumeClaims", "spec.ordinals"}},
	)
	down("DaemonSet",
		one{"partitioned scaling", `{spec: {scaleStrategy: {partitionedScaling: true}}}`, `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "true"}}, spec: {}}`, nil},
		one{"none", `{spec: {scaleStrategy: {partitionedScaling: false}}}`, `{spec: {}}`, nil},
		one{"switched off, the annotation stays", `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "true"}}, spec: {scaleStrategy: {partitionedScaling: false}}}`, `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "true"}}, spec: {}}`, []string{"spec.scaleStrategy.partitionedScaling"}},
		one{"an annotation that says the same", `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "no"}}, spec: {scaleStrategy: {partitionedScaling: false}}}`, `{metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: "no"}}, spec: {}}`, nil},
	)
	down("UnitedDeployment",
		one{"status by subset", `{status: {updatedRevision: r, subsetStatuses: [{name: b, replicas: 5, partition: 3}, {name: a}]}}`, `{status: {subsetReplicas: {b: 5}, updateStatus: {updatedRevision: r, currentPartitions: {b: 3}}, subsetStatuses: [{name: b, replicas: 5, partition: 3}, {name: a}]}}`, nil},
	)
	down("PodUnavailableBudget",
		one{"no operations", `{spec: {protectOperations: []}}`, `{spec: {}}`, nil},
		one{"annotations", `{spec: {protectOperations: [DELETE, EVICT], protectTotalReplicas: 7, ignoredPodSelector: {matchLabels: {a: b}}}}`, `{metadata: {annotations: {kruise.io/pub-protect-operations: "DELETE,EVICT", pub.kruise.io/protect-total-replicas: "7"}}, spec: {}}`, []string{"spec.ignoredPodSelector"}},
	)
	down("NodeImage",
		one{"the mode of a secret", `{spec: {images: {a: {pullSecrets: [{name: s, mode: batch}]}, b: {}}}}`, `{spec: {images: {a: {pullSecrets: [{name: s}]}, b: {}}}}`, []string{"spec.images[a].pullSecrets[0].mode"}},
	)
	down("ContainerRecreateRequest",
		one{
			"annotations", `{status: {phase: Pending, containerStatusSnapshot: [{name: a, ready: true, restartCount: 1}], conditions: [{type: PreRecreateGrace, lastTransitionTime: "2026-01-02T03:04:05Z"}, {type: Odd}]}}`,
			`{metadata: {annotations: {crr.apps.kruise.io/sync-container-statuses: '[{"name":"a","ready":true,"restartCount":1}]', crr.apps.kruise.io/unready-acquired: "2026-01-02T03:04:05Z"}}, status: {phase: Pending}}`,
			[]string{"status.conditions"},
		},
	)
	down("ResourceDistribution",
		one{"selector and conditions", `{spec: {targets: {namespaceSelector: {matchLabels: {a: b}}}}, status: {conditions: [{failedNamespaces: [x]}]}}`, `{spec: {targets: {namespaceLabelSelector: {matchLabels: {a: b}}}}, status: {conditions: [{failedNamespace: [x]}]}}`, nil},
	)
}

func TestConversion_OfTheSameVersionReturnsTheSameTree(t *testing.T) {
	for _, n := range []*tree.Node{
		written(t, "CloneSet", kruise.V1beta1, "{spec: {}}"),
		written(t, "EphemeralJob", kruise.V1alpha1, "{spec: {}}"),
		parse(t, "{apiVersion: apps/v1, kind: Deployment}"),
		parse(t, "{apiVersion: v1, kind: CloneSet}"),
		parse(t, "text"),
	} {
		got, lost, err := kruise.ToHub(n)
		if got != n || lost != nil || err != nil {
			t.Errorf("%v %v %v", tree.Value(got), lost, err)
		}
	}
}

func TestConversion_RefusesWhatTheVersionCannotHold(t *testing.T) {
	imageList := written(t, "AdvancedCronJob", kruise.V1beta1, "{spec: {template: {imageListPullJobTemplate: {spec: {}}}}}")
	for _, c := range []struct {
		name    string
		n       *tree.Node
		version string
		want    string
	}{
		{"a version that no kind has", written(t, "CloneSet", "v1", "{}"), "", "CloneSet has no version v1"},
		{"a version that the kind has not", written(t, "EphemeralJob", kruise.V1alpha1, "{}"), kruise.V1beta1, "EphemeralJob has no version v1beta1"},
		{"not ours", parse(t, "{apiVersion: apps/v1, kind: Deployment}"), kruise.V1alpha1, "apps/v1 Deployment is not a kind of Kruise"},
		{"cannot be said", imageList, kruise.V1alpha1, "v1alpha1 cannot express this"},
	} {
		var err error
		if c.version == "" {
			_, _, err = kruise.ToHub(c.n)
		} else {
			_, _, err = kruise.FromHub(c.n, c.version)
		}
		var te *tree.Error
		if !errors.As(err, &te) || !strings.Contains(te.Msg, c.want) || te.Path == "" || te.Line == 0 && te.Path == "apiVersion" && c.version != "" && strings.HasPrefix(c.name, "not") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDecode_ReportsPathsOfTheVersionRead: paths of complaints are those that the user
// wrote.
func TestDecode_ReportsPathsOfTheVersionRead(t *testing.T) {
	var set kruise.CloneSet
	text := "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nspec:\n  updateStrategy:\n    priorityStrategy: {odd: 1}\n    rollingUpdate: {maxSurge: 1}\n  scaleStrategy: {enablePVCReuse: true}\n  repilcas: 3\n"
	unknown, err := kruise.Decode(parse(t, text), &set)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(unknown)
	want := []string{"spec.repilcas", "spec.scaleStrategy.enablePVCReuse", "spec.updateStrategy.priorityStrategy.odd", "spec.updateStrategy.rollingUpdate.maxSurge"}
	if diff := cmp.Diff(want, unknown); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, c := range []struct {
		strategy, path string
		line           int
	}{
		{"maxSurge: [1]", "spec.updateStrategy.maxSurge", 4},
		{"scatterStrategy: [{key: a, value: b}, {key: 3}]", "spec.updateStrategy.scatterStrategy[1].key", 4},
		{"inPlaceUpdateStrategy: {gracePeriodSeconds: soon}", "spec.updateStrategy.inPlaceUpdateStrategy.gracePeriodSeconds", 4},
	} {
		n := parse(t, "apiVersion: apps.kruise.io/v1alpha1\nkind: CloneSet\nspec: {updateStrategy: {\n  "+c.strategy+"}}\n")
		_, err := kruise.Decode(n, &set)
		var te *tree.Error
		if !errors.As(err, &te) || te.Path != c.path || te.Line != c.line {
			t.Errorf("%s: %#v", c.strategy, err)
		}
	}
	var w kruise.WorkloadSpread
	_, err = kruise.Decode(written(t, "WorkloadSpread", kruise.V1alpha1, "{spec: {subsets: [{name: a}, {requiredNodeSelectorTerm: {matchExpressions: [{key: 1}]}}]}}"), &w)
	if err == nil || !strings.HasPrefix(err.Error(), "spec.subsets[1].requiredNodeSelectorTerm.matchExpressions[0].key: ") {
		t.Error(err)
	}
}

// Surging as Kruise's webhook takes it, which is more than its conversion does.
func TestDecode_ReadsSurgingAsTheWebhook(t *testing.T) {
	var ds kruise.DaemonSet
	if _, err := kruise.Decode(written(t, "DaemonSet", kruise.V1alpha1, "{spec: {updateStrategy: {rollingUpdate: {rollingUpdateType: Surging}}}}"), &ds); err != nil {
		t.Fatal(err)
	}
	r := ds.Spec.UpdateStrategy.RollingUpdate
	if r.RollingUpdateType != kruise.StandardRollingUpdateType || r.MaxSurge.IntValue() != 1 || r.MaxUnavailable.IntValue() != 0 {
		t.Errorf("%+v", r)
	}
}

// Whatever shape an object has, conversion neither panics nor touches it, and
// what it cannot move stays for the decoder to complain about.
func TestConversion_LeavesMalformedFieldsAlone(t *testing.T) {
	for _, kind := range []string{"CloneSet", "SidecarSet", "DaemonSet", "UnitedDeployment", "WorkloadSpread", "PodUnavailableBudget", "ContainerRecreateRequest", "NodeImage", "PersistentPodState", "ResourceDistribution"} {
		for _, text := range []string{
			"{spec: text}", "{spec: [1]}", "{spec: null}", "{metadata: text, spec: {}}", "{metadata: {labels: [], annotations: 7}, spec: {namespace: {}}}",
			"{spec: {updateStrategy: text, scaleStrategy: [], subsets: {}, images: [], targets: 3, customVersion: []}, status: {conditions: {}, subsetReplicas: [], subsetStatuses: text}}",
			"{spec: {subsets: [null, [], {requiredNodeSelectorTerm: null}], images: {a: null, b: {pullSecrets: [null]}}}}",
			"{spec: {updateStrategy: {partition: 1, type: {}, rollingUpdate: text}, scaleStrategy: {disablePVCReuse: maybe}}}",
		} {
			for _, from := range []string{kruise.V1alpha1, kruise.V1beta1} {
				n := written(t, kind, from, text)
				before := tree.Clone(n)
				to := kruise.V1beta1
				if from == to {
					to = kruise.V1alpha1
				}
				if _, _, err := kruise.FromHub(n, to); err != nil {
					t.Error(err)
				}
				if !tree.Equal(before, n) {
					t.Errorf("%s %s was changed", kind, text)
				}
			}
		}
	}
}

func TestConversion_KeepsWrongTypes(t *testing.T) {
	for _, c := range []struct{ text, path string }{
		{"{spec: {updateStrategy: text}}", "spec.updateStrategy"},
		{"{spec: {scaleStrategy: {disablePVCReuse: maybe}}}", "spec.scaleStrategy.disablePVCReuse"},
		{"{spec: {updateStrategy: {type: {a: b}}}}", "spec.updateStrategy.type"},
		{"{spec: 7}", "spec"},
	} {
		var set kruise.CloneSet
		_, err := kruise.Decode(written(t, "CloneSet", kruise.V1alpha1, c.text), &set)
		if err == nil || !strings.HasPrefix(err.Error(), c.path+": ") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func TestSourceValue(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, c := range []struct{ kind, name, want string }{
		{"CloneSet", "web", "cloneset.web"},
		{"CloneSet", strings.Repeat("n", 54), "cloneset." + strings.Repeat("n", 54)},
		{"ResourceDistribution", "a.b", "resourcedistribution.a.b"},
	} {
		if got := kruise.SourceValue(c.kind, c.name); got != c.want {
			t.Errorf("%s/%s: %s", c.kind, c.name, got)
		}
	}
	one, two := kruise.SourceValue("CloneSet", long+"-1"), kruise.SourceValue("CloneSet", long+"-2")
	if one == two || len(one) > 63 || len(two) > 63 || !strings.HasPrefix(one, "cloneset.aaa") {
		t.Error(one, two)
	}
	if v := kruise.SourceValue("CloneSet", strings.Repeat("a", 44)+strings.Repeat(".", 20)+"b"); strings.Contains(v, ".-") {
		t.Errorf("%s: what is cut off leaves dots", v)
	}
}

// TestConversion_RoundTripsWholeSchemas fills every field of every schema, goes to the other
// version and back: what does not come back must be reported, and what comes
// out must have a place in the schema of its version.
func TestConversion_RoundTripsWholeSchemas(t *testing.T) {
	for _, c := range crds(t) {
		if len(c.Spec.Versions) < 2 {
			continue
		}
		for i, from := range c.Spec.Versions {
			to := c.Spec.Versions[1-i]
			t.Run(c.Spec.Names.Kind+" from "+from.Name, func(t *testing.T) {
				in := tree.FromValue(filled(from.Schema.OpenAPIV3Schema, ""))
				tree.Set(in, "apiVersion", tree.String(c.Spec.Group+"/"+from.Name))
				tree.Set(in, "kind", tree.String(c.Spec.Names.Kind))
				tree.SetAt(in, tree.Map("name", "a"), "metadata")
				legal(in, c.Spec.Names.Kind, from.Name)
				there, lost, err := kruise.FromHub(in, to.Name)
				if err != nil {
					t.Fatal(err)
				}
				homeless(t, to.Schema.OpenAPIV3Schema, tree.Value(there), "")
				back, lostBack, err := kruise.FromHub(there, from.Name)
				if err != nil {
					t.Fatal(err)
				}
				homeless(t, from.Schema.OpenAPIV3Schema, tree.Value(back), "")
				reported := slices.Concat(lost, lostBack)
				for _, path := range gone("", meaning(in), meaning(back)) {
					if !slices.ContainsFunc(reported, func(l kruise.Loss) bool {
						at := dotted.Replace(l.Path)
						return strings.HasPrefix(at, path) || strings.HasPrefix(path, at)
					}) {
						t.Errorf("%s is lost and not reported, but %v", path, reported)
					}
				}
			})
		}
	}
}

// dotted turns [ and ] of paths into dots.
var dotted = strings.NewReplacer("[", ".", "]", "")

// legal replaces what a schema allows and no conversion can know what to do
// with, and takes out what has a test of its own.
func legal(n *tree.Node, kind, version string) {
	strategy := tree.Get(n, "spec", "updateStrategy")
	switch {
	case kind == "CloneSet" && version == kruise.V1beta1:
		tree.Set(strategy, "type", tree.String("RollingUpdate"))
	case kind == "CloneSet": // v1alpha1 reads annotations in place of these
		for _, f := range []string{"Parallelism", "TimeoutSeconds", "MinUpdatedReadyPods"} {
			tree.DeleteAt(strategy, "inPlaceUpdateStrategy", "imagePreDownload"+f)
		}
	case kind == "AdvancedCronJob": // refused as a whole
		tree.DeleteAt(n, "spec", "template", "imageListPullJobTemplate")
	case kind == "UnitedDeployment": // names of subsets would have to agree
		tree.Delete(n, "status")
	}
}

// filled makes a value with every field of the schema. Pod templates stay
// empty: no conversion looks into them.
func filled(s *schema, name string) any {
	switch {
	case name == "template" && s.Properties["spec"] != nil && s.Properties["spec"].Properties["containers"] != nil:
		return map[string]any{"spec": map[string]any{}}
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case s.IntOrString:
		return "7%"
	case s.Items != nil:
		return []any{filled(s.Items, "")}
	case s.AdditionalProperties != nil:
		return map[string]any{"key": filled(s.AdditionalProperties, "")}
	case len(s.Properties) > 0:
		m := map[string]any{}
		for key, p := range s.Properties {
			m[key] = filled(p, key)
		}
		return m
	case s.Type == "integer", s.Type == "number":
		return int64(7)
	case s.Type == "boolean":
		return true
	case s.Type == "string":
		return "text"
	}
	return map[string]any{}
}

// homeless complains of fields that the schema does not have.
func homeless(t *testing.T, s *schema, v any, path string) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if s.Items != nil {
				homeless(t, s.Items, item, path)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch p := s.Properties[key]; {
			case p != nil:
				homeless(t, p, v[key], strings.TrimPrefix(path+"."+key, "."))
			case s.AdditionalProperties != nil:
				homeless(t, s.AdditionalProperties, v[key], path+"{}")
			case len(s.Properties) > 0 && !s.Open:
				t.Errorf("%s.%s has no place in the schema", path, key)
			}
		}
	}
}

func parse(tb testing.TB, text string) *tree.Node {
	tb.Helper()
	var n tree.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		tb.Fatal(err)
	}
	return tree.Root(&n)
}
