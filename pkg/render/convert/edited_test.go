package convert_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/golden"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/convert"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 20%}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "example.com/c:1"}]}
`

// TestToKinds_KeepsEdits: what was changed between two conversions stays, the rest comes back as it
// was.
func TestToKinds_KeepsEdits(t *testing.T) {
	tests := map[string]struct{ edit, by, want string }{
		"nothing":    {"replicas: 7", "replicas: 7", "maxUnavailable: 20%"},
		"replicas":   {"replicas: 7", "replicas: 9", "maxUnavailable: 20%"},
		"the number": {"maxUnavailable: 1", "maxUnavailable: 3", "maxUnavailable: 3"},
		"an image":   {"c:1", "c:2", `image: "example.com/c:2"}`},
		"a policy":   {"imagePullPolicy: IfNotPresent", "imagePullPolicy: Never", "imagePullPolicy: Never"},
		"no policy":  {", imagePullPolicy: IfNotPresent", "", "imagePullPolicy: Always"},
		"a name":     {"name: c,", "name: d,", "name: d"},
		"no note":    {"converted-from", "lost", "maxUnavailable: 1\n"},
		"bad note":   {`{"apiVersion"`, `{`, "maxUnavailable: 1\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			there := text(t, to(t, "CloneSet", golden.Parse(t, deployment)).Resources)
			edited := strings.ReplaceAll(there, tc.edit, tc.by)
			if tc.edit != tc.by && edited == there {
				t.Fatalf("nothing to edit in\n%s", there)
			}
			if back := text(t, to(t, "Deployment", golden.Parse(t, edited)).Resources); !strings.Contains(back, tc.want) {
				t.Errorf("no %q in\n%s", tc.want, back)
			}
		})
	}
}

// TestToKinds_RequestedPolicyWins: the policy that the options ask for on the way back wins
// over the one that was kept, beside which the rest comes back.
func TestToKinds_RequestedPolicyWins(t *testing.T) {
	const before = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate, partition: 2}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: "example.com/c:1"}]}}
`
	native := golden.Parse(t, text(t, to(t, "native", golden.Parse(t, before)).Resources))
	opt := options(t, "kruise")
	opt.Raise = convert.RaiseOptions{PodUpdatePolicy: kruise.InPlaceIfPossiblePodUpdateStrategyType}
	res, err := convert.ToKinds(t.Context(), native, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"podUpdatePolicy: InPlaceIfPossible", "partition: 2"} {
		if got := text(t, res.Resources); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestToKinds_ForgetWritesNoAnnotation(t *testing.T) {
	opt := options(t, "kruise")
	opt.Forget = true
	res, err := convert.ToKinds(t.Context(), golden.Parse(t, deployment), opt)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, res.Resources); strings.Contains(got, "annotations") {
		t.Error(got)
	}
}

// TestToKinds_ConvertsChosenObjectsOnly: only what is chosen is converted, and only references to it follow.
func TestToKinds_ConvertsChosenObjectsOnly(t *testing.T) {
	opt := options(t, "CloneSet")
	opt.Names = []string{"web"}
	const reference = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: NAME}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}}
`
	stream := deployment + "---\n" + strings.ReplaceAll(deployment, "web", "api") +
		"---\n" + strings.ReplaceAll(reference, "NAME", "web") + "---\n" + strings.ReplaceAll(reference, "NAME", "api")
	res, err := convert.ToKinds(t.Context(), golden.Parse(t, stream), opt)
	if err != nil {
		t.Fatal(err)
	}
	got := text(t, res.Resources)
	if res.Converted != 1 || !strings.Contains(got, "kind: CloneSet, name: web}") || !strings.Contains(got, "kind: Deployment, name: api}") {
		t.Error(got)
	}
}

// TestToKinds_RefusesWhatTheKindCannotHold: what the other kind cannot be is an error with a place.
func TestToKinds_RefusesWhatTheKindCannotHold(t *testing.T) {
	const head = "apiVersion: apps.kruise.io/v1beta1\nmetadata: {name: x}\n"
	surging, _, _ := strings.Cut(deployment, "  strategy")
	const pod = "template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i}]}}"
	tests := map[string]struct {
		to, in, want string
		opt          convert.RaiseOptions
	}{
		"claims":          {"native", head + "kind: CloneSet\nspec:\n  selector: {matchLabels: {app: x}}\n  " + pod + "\n  volumeClaimTemplates: [{metadata: {name: d}}]\n", "spec.volumeClaimTemplates: this cannot become one Deployment", convert.RaiseOptions{}},
		"no job":          {"native", head + "kind: AdvancedCronJob\nspec: {schedule: '* * * * *', template: {broadcastJobTemplate: {spec: {completionPolicy: {type: Always}, " + pod + "}}}}\n", "spec.template", convert.RaiseOptions{}},
		"no eviction":     {"native", "apiVersion: policy.kruise.io/v1beta1\nkind: PodUnavailableBudget\nmetadata: {name: x}\nspec: {selector: {matchLabels: {app: x}}, maxUnavailable: 1, protectOperations: [DELETE]}\n", "spec.protectOperations: this cannot become one PodDisruptionBudget, but nothing", convert.RaiseOptions{}},
		"empty selector":  {"kruise", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {selector: {}, maxUnavailable: 1}\n", "spec.selector", convert.RaiseOptions{}},
		"older version":   {"kruise", "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x}\nspec: {}\n", "apiVersion: policy/v1beta1 PodDisruptionBudget cannot be converted", convert.RaiseOptions{}},
		"in place, surge": {"kruise", surging + "  " + pod + "\n", "cannot surge", convert.RaiseOptions{PodUpdatePolicy: "InPlaceOnly"}},
		"daemon surge":    {"kruise", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {selector: {matchLabels: {app: x}}, updateStrategy: {rollingUpdate: {maxSurge: 1}}, " + pod + "}\n", "cannot surge", convert.RaiseOptions{PodUpdatePolicy: "InPlaceIfPossible"}},
		"daemon only":     {"kruise", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {selector: {matchLabels: {app: x}}, " + pod + "}\n", "no InPlaceOnly", convert.RaiseOptions{PodUpdatePolicy: "InPlaceOnly"}},
		"wrong type":      {"kruise", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: many}\n", "spec.replicas", convert.RaiseOptions{}},
		"dotted name":     {"kruise", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a.b}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {" + pod + "}}}\n", "metadata.name", convert.RaiseOptions{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			opt := options(t, tc.to)
			opt.Raise = tc.opt
			_, err := convert.ToKinds(t.Context(), golden.Parse(t, tc.in), opt)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "input.yaml:") {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestParseTargets(t *testing.T) {
	for _, words := range [][]string{{"kruise"}, {"native"}, {"clone", "asts"}, {"StatefulSet.apps.kruise.io"}, {"statefulsets.apps"}, {"CronJobs"}, {"PUB", "Deployment"}} {
		if _, err := convert.ParseTargets(words); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, words := range [][]string{{"kruise", "native"}, {"CloneSet", "Deployment"}, {"ReplicaSet"}, {""}, {"deployment.apps.kruise.io"}} {
		if _, err := convert.ParseTargets(words); err == nil {
			t.Errorf("%q: no error", words)
		}
	}
}

// TestToKinds_RestoresCommentsAndNumbers: what the other kind has no field for comes back with its
// comments, and with its numbers as they were written.
func TestToKinds_RestoresCommentsAndNumbers(t *testing.T) {
	for name, was := range map[string]string{
		"comments": `
  # never two at a time
  strategy:
    # what the team agreed
    type: Recreate # really
`,
		"comments of a level that went": `
  # how
  revisionHistoryLimit: 4 # many
  strategy:
    # by hand
    rollingUpdate:
      # no one waits
      maxUnavailable: 0 # none
      maxSurge: 100%
`,
		"a number beyond all bits": `
  example:
    exact: 1.10
    hex: 0x1F
    number: 18446744073709551617
`,
	} {
		t.Run(name, func(t *testing.T) {
			from := strings.Replace(deployment, "\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 20%}}\n", was, 1)
			there := text(t, to(t, "CloneSet", golden.Parse(t, from)).Resources)
			if !strings.Contains(there, kruise.ConvertedFromAnnotation) {
				t.Fatalf("nothing is kept:\n%s", there)
			}
			back := text(t, to(t, "Deployment", golden.Parse(t, there)).Resources)
			for line := range strings.Lines(was) {
				if line = strings.TrimSpace(line); !strings.Contains(back, line) {
					t.Errorf("no %q in\n%s\nfrom\n%s", line, back, there)
				}
			}
		})
	}
}
