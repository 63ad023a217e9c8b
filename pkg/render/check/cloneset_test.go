package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

const good = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "example.com/web:1"}
`

// with replaces parts of the good CloneSet, in pairs of old and new.
func with(pairs ...string) string {
	s := good
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(s, pairs[i]) {
			panic("the good CloneSet has no " + pairs[i])
		}
		s = strings.Replace(s, pairs[i], pairs[i+1], 1)
	}
	return s
}

const (
	beta, alpha = "v1beta1", "v1alpha1"
	spec        = "spec:\n"
)

// strategy puts an updateStrategy in.
func strategy(version, text string) string {
	return with(beta, version, spec, "spec:\n  updateStrategy: "+text+"\n")
}

func TestCloneSet_Accepted(t *testing.T) {
	for name, input := range map[string]string{
		"good":                       good,
		"alpha":                      with(beta, alpha),
		"on delete":                  strategy(beta, "{type: OnDelete}"),
		"on delete, unavailable":     strategy(beta, "{type: OnDelete, rollingUpdate: {maxUnavailable: 1}}"),
		"alpha surge only":           strategy(alpha, "{maxUnavailable: 0, maxSurge: 1}"),
		"beta surge only by percent": strategy(beta, `{rollingUpdate: {maxUnavailable: "0%", maxSurge: 1}}`),
		"fractional":                 strategy(beta, "{rollingUpdate: {maxUnavailable: 33.3%, partition: 12.5%}}"),
		"weight zero":                strategy(beta, "{rollingUpdate: {priorityStrategy: {weightPriority: [{weight: 0, matchSelector: {matchLabels: {a: b}}}]}}}"),
		"beta deadline":              with(spec, "spec:\n  minReadySeconds: 60\n  progressDeadlineSeconds: 60\n"),
		"beta negative deadline":     with(spec, "spec:\n  progressDeadlineSeconds: -1\n"),
		"unknown in the template":    with("metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, future: x}"),
		"expression":                 with("{matchLabels: {app: web}}", "{matchExpressions: [{key: app, operator: In, values: [web]}]}"),
		"generated name":             with("name: web", "generateName: web-"),
		"no replicas, no budget":     strings.Replace(strategy(beta, "{rollingUpdate: {maxUnavailable: 0}}"), "replicas: 4", "replicas: 0", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if err := checked(t, input, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCloneSet_Refused(t *testing.T) {
	beforeTemplate, _, _ := strings.Cut(good, "  template:")
	container := `{name: web, image: "example.com/web:1"}`
	for name, c := range map[string]struct{ input, want string }{
		"text for a number":      {with("replicas: 4", "replicas: four"), "input.yaml:6: CloneSet web: spec.replicas: string is not allowed here"},
		"negative replicas":      {with("replicas: 4", "replicas: -1"), "input.yaml:6: CloneSet web: spec.replicas: -1 must not be negative"},
		"negative history":       {with(spec, "spec:\n  revisionHistoryLimit: -1\n"), "spec.revisionHistoryLimit: -1 must not be negative"},
		"bad name":               {with("name: web", "name: Web_1"), `metadata.name: "Web_1" is not a name`},
		"no selector":            {with("  selector: {matchLabels: {app: web}}\n", ""), "spec.selector: a selector is required"},
		"empty selector":         {with("{matchLabels: {app: web}}", "{}"), "spec.selector: an empty selector is not allowed"},
		"bad selector":           {with("{matchLabels: {app: web}}", "{matchExpressions: [{key: app, operator: Near}]}"), "spec.selector.matchExpressions[0].operator: "},
		"selector mismatch":      {with("labels: {app: web}}\n    spec", "labels: {app: shop}}\n    spec"), "spec.template.metadata.labels: the selector does not match"},
		"no template":            {beforeTemplate, "spec.template: a pod template is required"},
		"no containers":          {with("      - "+container, "        []"), "spec.template.spec.containers: required"},
		"alpha field in beta":    {strategy(beta, "{partition: 1}"), "input.yaml:6: CloneSet web: spec.updateStrategy.partition: unknown field"},
		"misspelt":               {with("replicas: 4", "replica: 4"), "spec.replica: unknown field"},
		"alpha OnDelete":         {strategy(alpha, "{type: OnDelete}"), "spec.updateStrategy.type: OnDelete is refused in v1alpha1"},
		"on delete, rolling":     {strategy(beta, "{type: OnDelete, rollingUpdate: {partition: 1}}"), "spec.updateStrategy.rollingUpdate.maxUnavailable: "},
		"beta in-place type":     {strategy(beta, "{type: InPlaceOnly}"), `spec.updateStrategy.type: "InPlaceOnly" is not allowed`},
		"policy":                 {strategy(beta, "{rollingUpdate: {podUpdatePolicy: Never}}"), `spec.updateStrategy.rollingUpdate.podUpdatePolicy: "Never" is not allowed`},
		"alpha policy":           {strategy(alpha, "{type: Never}"), `spec.updateStrategy.type: "Never" is not allowed`},
		"both zero":              {strategy(beta, "{rollingUpdate: {maxUnavailable: 0}}"), "maxUnavailable and maxSurge may not both be 0"},
		"alpha both zero":        {strategy(alpha, `{maxUnavailable: "0%", maxSurge: "0%"}`), "spec.updateStrategy.maxUnavailable: maxUnavailable and maxSurge may not both be 0"},
		"beta zero with surge":   {strategy(beta, "{rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}"), "v1beta1 refuses 0 even beside maxSurge"},
		"in-place surge":         {strategy(beta, "{rollingUpdate: {podUpdatePolicy: InPlaceOnly, maxSurge: 1}}"), "cannot surge"},
		"number as text":         {strategy(beta, `{rollingUpdate: {maxUnavailable: "3"}}`), `rollingUpdate.maxUnavailable: "3" is neither a number nor a percentage`},
		"negative percent":       {strategy(beta, `{rollingUpdate: {partition: "-5%"}}`), `rollingUpdate.partition: "-5%" is neither`},
		"alpha partition":        {strategy(alpha, "{partition: -1}"), "spec.updateStrategy.partition: -1 must not be negative"},
		"scale unavailable":      {with(spec, "spec:\n  scaleStrategy: {maxUnavailable: many}\n"), `spec.scaleStrategy.maxUnavailable: "many" is neither`},
		"both priorities":        {strategy(beta, "{rollingUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: [{weight: 1, matchSelector: {matchLabels: {a: b}}}]}}}"), "may not both be set"},
		"bad match":              {strategy(beta, "{rollingUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchExpressions: [{key: a, operator: x}]}}]}}}"), "weightPriority[0].matchSelector.matchExpressions[0].operator: "},
		"scatter twice":          {strategy(alpha, "{scatterStrategy: [{key: a, value: b}, {key: a, value: c}, {key: a, value: b}]}"), "spec.updateStrategy.scatterStrategy[2]: a=b is listed twice"},
		"scatter":                {strategy(alpha, "{scatterStrategy: [{key: a, value: b}, {key: '', value: b}]}"), "spec.updateStrategy.scatterStrategy[1].key: a key is required"},
		"twice to delete":        {with(spec, "spec:\n  scaleStrategy: {podsToDelete: [a, b, a]}\n"), "spec.scaleStrategy.podsToDelete[2]: pod a is named twice"},
		"alpha deadline":         {with(beta, alpha, spec, "spec:\n  minReadySeconds: 60\n  progressDeadlineSeconds: 60\n"), "60 must be greater than minReadySeconds 60"},
		"negative deadline":      {with(beta, alpha, spec, "spec:\n  progressDeadlineSeconds: -1\n"), "-1 must be greater than minReadySeconds 0"},
		"claim without name":     {with(spec, "spec:\n  volumeClaimTemplates: [{metadata: {labels: {a: b}}}]\n"), "spec.volumeClaimTemplates[0].metadata.name: a claim template needs a name"},
		"claim twice":            {with(spec, "spec:\n  volumeClaimTemplates: [{metadata: {name: d}}, {metadata: {name: d}}]\n"), "claim template d is listed twice"},
		"container without name": {with(container, `{image: "example.com/web:1"}`), "input.yaml:12: CloneSet web: spec.template.spec.containers[0].name: required"},
		"container name":         {with("name: web, image", "name: Web, image"), `"Web": a lowercase RFC 1123 label`},
		"two of a name":          {with("- "+container, "- "+container+"\n      - "+container), "spec.template.spec.containers[1].name: web is there twice"},
		"no image":               {with(container, "{name: web}"), "spec.template.spec.containers[0].image: required"},
		"no volume":              {with(container, `{name: web, image: i, volumeMounts: [{name: d, mountPath: /d}]}`), `volumeMounts[0].name: there is no "d"`},
		"no mount path":          {with(container, `{name: web, image: i, volumeMounts: [{name: d}]}`), "volumeMounts[0].mountPath: required"},
		"two volumes":            {with("    spec:\n      con", "    spec:\n      volumes: [{name: d}, {name: d}]\n      con"), "volumes[1].name: d is there twice"},
		"env":                    {with(container, `{name: web, image: i, env: [{value: x}]}`), "env[0].name: required"},
		"request above limit":    {with(container, `{name: web, image: i, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}`), `resources.requests: "2": must be less than or equal to cpu limit of 1`},
		"negative limit":         {with(container, `{name: web, image: i, resources: {limits: {cpu: -1}}}`), `resources.limits[cpu]: "-1": must be greater than or equal to 0`},
		"negative request":       {with(container, `{name: web, image: i, resources: {requests: {cpu: -1}}}`), `resources.requests[cpu]: "-1": must be greater than or equal to 0`},
		"init container":         {with("    spec:\n      con", "    spec:\n      initContainers: [{name: web, image: i}, {name: a}]\n      con"), "initContainers[1].image: required"},
		"restart policy":         {with("    spec:\n      con", "    spec:\n      restartPolicy: Never\n      con"), `restartPolicy: "Never" is not allowed`},
		"deadline of pods":       {with("    spec:\n      con", "    spec:\n      activeDeadlineSeconds: 9\n      con"), "activeDeadlineSeconds: pods of a CloneSet have no deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checked(t, c.input, "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCloneSet_ReportsAllFaults(t *testing.T) {
	err := checked(t, with("replicas: 4", "replicas: -1", "name: web, image", "name: '', image")+"---\n"+with("selector: {matchLabels: {app: web}}", "selector: {}"), "")
	for _, want := range []string{"spec.replicas", "containers[0].name", "spec.selector"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestCloneSet_HintsAtTheOtherVersion(t *testing.T) {
	for input, want := range map[string]string{
		strategy(beta, "{partition: 1}"):                     "in v1beta1 this is spec.updateStrategy.rollingUpdate.partition",
		strategy(alpha, "{rollingUpdate: {maxSurge: 1}}"):    "in v1alpha1 the fields of rollingUpdate are in spec.updateStrategy itself",
		strategy(beta, "{rollingUpdate: {}, unknown: true}"): "check the spelling",
		strategy(alpha, "{partiton: 1}"):                     "did you mean partition?",
	} {
		var fault *resource.Error
		if err := checked(t, input, ""); !errors.As(err, &fault) || fault.Hint != want {
			t.Errorf("%v: hint of %+v, want %q", err, fault, want)
		}
	}
}

func TestCloneSet_Updates(t *testing.T) {
	inPlaceOnly := strategy(alpha, "{type: InPlaceOnly}")
	stored := strings.Replace(strategy(beta, "{rollingUpdate: {podUpdatePolicy: InPlaceOnly}}"),
		`image: "example.com/web:1"`, `image: "example.com/web:1", imagePullPolicy: Always, resources: {}`, 1)
	for name, c := range map[string]struct{ before, object, want string }{
		"nothing":           {good, good, ""},
		"defaults":          {stored, inPlaceOnly, ""},
		"image":             {stored, strings.Replace(inPlaceOnly, "web:1", "web:2", 1), ""},
		"label":             {stored, strings.Replace(inPlaceOnly, "{app: web}}\n    spec", "{app: web, v: two}}\n    spec", 1), ""},
		"env":               {stored, strings.Replace(inPlaceOnly, "{name: web,", "{name: web, env: [{name: A, value: b}],", 1), "spec.template.spec: InPlaceOnly allows only changes of images and metadata"},
		"container":         {stored, inPlaceOnly + "      - {name: side, image: i}\n", "InPlaceOnly allows"},
		"env under beta":    {stored, strings.Replace(strategy(beta, "{rollingUpdate: {podUpdatePolicy: InPlaceOnly}}"), "{name: web,", "{name: web, env: [{name: A, value: b}],", 1), ""},
		"selector":          {good, with("selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: web, x: y}}", "labels: {app: web}}\n", "labels: {app: web, x: y}}\n"), "spec.selector: this field of an existing CloneSet is immutable"},
		"another one":       {strings.Replace(good, "name: web", "name: other", 1), with("selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: web, x: y}}", "labels: {app: web}}\n", "labels: {app: web, x: y}}\n"), ""},
		"other namespace":   {strings.Replace(good, "name: web", "name: web\n  namespace: far", 1), with("selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: web, x: y}}", "labels: {app: web}}\n", "labels: {app: web, x: y}}\n"), ""},
		"default spelt out": {strings.Replace(good, "name: web", "name: web\n  namespace: default", 1), with("selector: {matchLabels: {app: web}}", "selector: {matchLabels: {app: web, x: y}}", "labels: {app: web}}\n", "labels: {app: web, x: y}}\n"), "immutable"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checked(t, c.object, c.before)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestCloneSet_PodsToDelete: only v1alpha1 looks at the pods, and only at new names.
func TestCloneSet_PodsToDelete(t *testing.T) {
	const around = `
apiVersion: v1
kind: Pod
metadata: {name: web-a, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: u, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: api-a, ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: api, uid: u, controller: true}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-b, deletionTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web, uid: u, controller: true}]}
`
	names := func(version, list string) []string {
		return []string{beta, version, spec, "spec:\n  scaleStrategy: {podsToDelete: [" + list + "]}\n"}
	}
	const refusal = "cloneset/pods-to-delete-invalid spec.scaleStrategy.podsToDelete"
	rulingsAround(t, good, []ruling{
		{name: "own", edit: names(alpha, "web-a")},
		{name: "v1beta1", edit: names(beta, "web-x")},
		{name: "named before", edit: names(alpha, "web-x, web-a"), old: names(alpha, "web-x")},
		{name: "may be there", edit: names(alpha, "web-x"), unsure: true},
		{name: "twice", edit: names(beta, "a, a"), want: refusal + "[1]"},
		{name: "missing", edit: names(alpha, "web-a, web-x"), want: refusal + "[1]"},
		{name: "another's", edit: names(alpha, "api-a"), want: refusal + "[0]"},
		{name: "going", edit: names(alpha, "web-b"), want: refusal + "[0]"},
	}, around)
}
