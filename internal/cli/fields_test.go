package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/conformance"
)

// internalError finds texts that no user should see: of a panic, of Go's types, of a missing argument.
var internalError = regexp.MustCompile(`panic|runtime error|nil pointer|goroutine |%!|<nil>|interface ?\{|json: |reflect\.|cannot unmarshal`)

// fieldPairs is how many random pairs of fields are tried of each kind that is planned, filePairs of
// each kind as documents of one file.
const (
	fieldPairs = 12
	filePairs  = 120
)

// TestFields_AreReadByEveryVerb sets each field of each kind that Kruise's definitions have, alone and in
// random pairs, and asks the verbs that look at it: none panics, and no error is one of this program.
func TestFields_AreReadByEveryVerb(t *testing.T) {
	all := 0
	for _, k := range definedKinds(t) {
		t.Run(k.kind+" "+k.version, func(t *testing.T) {
			n := k.try(t)
			all += n
			if n < 5 {
				t.Errorf("only %d fields", n)
			}
		})
	}
	if all < 800 {
		t.Errorf("only %d fields of all kinds: the definitions are not read", all)
	}
}

// definedKind is one version of a kind in the definitions.
type definedKind struct {
	group, kind, version string
	cluster              bool
	schema               map[string]any
	fields               []definedField
}

// anyKey is the value of a key of a map in the path of a field, and mapKey is that key in objects.
const (
	anyKey = "*"
	mapKey = "web"
)

// definedField is one field with its schema; an item of a list is "0" in the path.
type definedField struct {
	path   []string
	schema map[string]any
}

func definedKinds(t *testing.T) []*definedKind {
	t.Helper()
	var out []*definedKind
	for _, text := range conformance.Definitions(t, "next") {
		var d struct {
			Spec struct {
				Group    string
				Scope    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Served bool
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		if err := yaml.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		for _, v := range d.Spec.Versions {
			k := &definedKind{group: d.Spec.Group, kind: d.Spec.Names.Kind, version: v.Name, cluster: d.Spec.Scope == "Cluster", schema: v.Schema.OpenAPIV3Schema}
			for _, top := range []string{"spec", "resource", "targets"} {
				k.fields = append(k.fields, fieldsBelow(propertyOf(k.schema, top), []string{top})...)
			}
			out = append(out, k)
		}
	}
	return out
}

func propertyOf(schema map[string]any, name string) map[string]any {
	all, _ := schema["properties"].(map[string]any)
	p, _ := all[name].(map[string]any)
	return p
}

// fieldsBelow are all fields of a schema, each before those below it.
func fieldsBelow(schema map[string]any, at []string) []definedField {
	properties, _ := schema["properties"].(map[string]any)
	var out []definedField
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below, _ := properties[name].(map[string]any)
		path := append(slices.Clone(at), name)
		out = append(out, definedField{path, below})
		out = append(out, fieldsBelow(below, path)...)
		if items, ok := below["items"].(map[string]any); ok {
			out = append(out, fieldsBelow(items, append(slices.Clone(path), "0"))...)
		}
		out = append(out, fieldsBelow(asSchema(below["additionalProperties"]), append(slices.Clone(path), anyKey))...)
	}
	return out
}

// try drives every field of the kind and returns how many there are.
func (k *definedKind) try(t *testing.T) int {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(len(k.kind))))
	var singles, pairs []map[string]any
	for _, f := range k.fields {
		singles = append(singles, k.with(random, f))
	}
	for range min(filePairs, len(k.fields)*len(k.fields)) {
		pairs = append(pairs, k.with(random, k.fields[random.IntN(len(k.fields))], k.fields[random.IntN(len(k.fields))]))
	}
	k.tryFiles(t, slices.Concat(singles, pairs))
	if slices.Contains([]string{"CloneSet", "StatefulSet", "DaemonSet", "SidecarSet"}, k.kind) {
		for _, o := range singles {
			k.tryPlan(t, random, o)
		}
		for _, o := range pairs[:min(fieldPairs, len(pairs))] {
			k.tryPlan(t, random, o)
		}
	}
	return len(k.fields)
}

// base is a small valid object of the kind.
func (k *definedKind) base(tb testing.TB) map[string]any {
	tb.Helper()
	text, ok := smallest[k.kind]
	if !ok {
		tb.Fatalf("no object of kind %s: add one to smallest", k.kind)
	}
	o := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		tb.Fatal(err)
	}
	o["apiVersion"], o["kind"] = k.group+"/"+k.version, k.kind
	meta := map[string]any{"name": "web"}
	if !k.cluster {
		meta["namespace"] = "shop"
	}
	o["metadata"] = meta
	return o
}

// with is the small object with some fields set.
func (k *definedKind) with(random *rand.Rand, fields ...definedField) map[string]any {
	o := map[string]any{}
	for _, f := range fields {
		k.set(random, o, f)
	}
	return o
}

// set adds a field, and what its parents require beside it. o has only what is set: see merged.
func (k *definedKind) set(random *rand.Rand, o map[string]any, f definedField) {
	at, schema := o, k.schema
	for i, name := range f.path[:len(f.path)-1] {
		if name == "0" {
			continue
		}
		if name == anyKey {
			name, schema = mapKey, asSchema(schema["additionalProperties"])
		} else {
			schema = propertyOf(schema, name)
		}
		if items, ok := schema["items"].(map[string]any); ok && f.path[i+1] == "0" {
			schema = items
			list, _ := at[name].([]any)
			if len(list) == 0 {
				list = []any{required(random, schema)}
			}
			at[name] = list
			at, _ = list[0].(map[string]any)
			if at == nil {
				return
			}
			continue
		}
		next, ok := at[name].(map[string]any)
		if !ok {
			next = required(random, schema)
			at[name] = next
		}
		at = next
	}
	last := f.path[len(f.path)-1]
	at[last] = plausible(random, last, f.schema, 0)
}

// required has the fields that a schema requires.
func required(random *rand.Rand, schema map[string]any) map[string]any {
	out := map[string]any{}
	names, _ := schema["required"].([]any)
	for _, name := range names {
		name, _ := name.(string)
		out[name] = plausible(random, name, propertyOf(schema, name), 1)
	}
	return out
}

// fieldValues are values that a field of a name takes.
var fieldValues = map[string][]string{
	"image": {"example.com/web:2"}, "hotUpgradeEmptyImage": {"example.com/empty:1"}, "upgradeType": {"HotUpgrade", "ColdUpgrade"},
	"podInjectPolicy": {"BeforeAppContainer", "AfterAppContainer"}, "patchPolicy": {"Retain", "Overwrite", "MergePatchJson"}, "policy": {"Always", "Partial"},
	"name": {"web", "main", "mesh"}, "containerName": {"main"}, "key": {"app"}, "operator": {"In", "Exists"}, "apiVersion": {"apps.kruise.io/v1beta1", "apps/v1"},
	"kind": {"CloneSet", "Deployment"}, "schedule": {"*/5 * * * *"}, "storage": {"1Gi"}, "cpu": {"1", "max(cpu*50%, 50m)"}, "memory": {"1Gi"},
	"type":            {"RollingUpdate", "OnDelete", "NotUpdate", "InPlaceIfPossible", "Standard", "enabled", "Surging", "Adaptive", "Always", "Never", "FailFast", "OnPodRollingUpdate"},
	"podUpdatePolicy": {"InPlaceIfPossible", "InPlaceOnly", "ReCreate"}, "rollingUpdateType": {"Standard", "InPlaceIfPossible"}, "namespace": {"shop"},
	"customVersion": {"v1"}, "revisionName": {"web-1"}, "podManagementPolicy": {"Parallel", "OrderedReady"}, "whenScaled": {"Delete", "Retain"}, "whenDeleted": {"Delete"},
	"completionPolicy": {"Always"}, "timeZone": {"Europe/Paris"}, "fieldPath": {"metadata.name"}, "topologyKey": {"kubernetes.io/hostname"}, "startTime": {"2026-01-01T00:00:00Z"},
}

// plausible is a value that a field may have.
func plausible(random *rand.Rand, name string, schema map[string]any, depth int) any {
	if choices, ok := schema["enum"].([]any); ok && len(choices) > 0 {
		return choices[random.IntN(len(choices))]
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return []any{0, 1, 2, "50%", "100%"}[random.IntN(5)]
	}
	switch schema["type"] {
	case "integer", "number":
		return random.IntN(4)
	case "boolean":
		return random.IntN(4) > 0
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{plausible(random, strings.TrimSuffix(name, "s"), items, depth)}
	case "string":
		if list := fieldValues[name]; len(list) > 0 {
			return list[random.IntN(len(list))]
		}
		return "a"
	}
	return plausibleObject(random, name, schema, depth)
}

func plausibleObject(random *rand.Rand, name string, schema map[string]any, depth int) any {
	switch name {
	case "template":
		if schema["properties"] == nil {
			return podTemplate()
		}
	case "volumeClaimTemplate":
		return claimTemplate()
	case "container", "initContainer":
		return map[string]any{"name": "mesh", "image": "example.com/mesh:2"}
	}
	if schema["additionalProperties"] != nil {
		return map[string]any{"app": plausible(random, "", asSchema(schema["additionalProperties"]), depth+1)}
	}
	out := required(random, schema)
	properties, _ := schema["properties"].(map[string]any)
	for _, below := range slices.Sorted(maps.Keys(properties)) {
		if depth < 3 && random.IntN(2) == 0 {
			out[below] = plausible(random, below, asSchema(properties[below]), depth+1)
		}
	}
	return out
}

func asSchema(v any) map[string]any {
	out, _ := v.(map[string]any)
	return out
}

func podTemplate() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/web:2"}}},
	}
}

func claimTemplate() map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": "data"},
		"spec":     map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}},
	}
}

// merged puts fields into an object; what they set counts.
func merged(into, fields map[string]any) map[string]any {
	out := maps.Clone(into)
	for key, v := range fields {
		below, isMap := v.(map[string]any)
		there, wasMap := out[key].(map[string]any)
		list, isList := v.([]any)
		had, wasList := out[key].([]any)
		switch {
		case isMap && wasMap:
			out[key] = merged(there, below)
		case isList && wasList && len(list) > 0 && len(had) > 0 && asSchema(list[0]) != nil && asSchema(had[0]) != nil:
			out[key] = append([]any{merged(asSchema(had[0]), asSchema(list[0]))}, had[1:]...)
		default:
			out[key] = v
		}
	}
	return out
}

// underName is an object under another name.
func underName(o map[string]any, name string) map[string]any {
	return merged(o, map[string]any{"metadata": map[string]any{"name": name}})
}

func writeObjects(t *testing.T, path string, objects ...map[string]any) {
	t.Helper()
	var text []byte
	for _, o := range objects {
		doc, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(append(text, "---\n"...), doc...), '\n')
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// tryFiles asks the verbs that read many objects at once. What lint takes is rendered, too.
func (k *definedKind) tryFiles(t *testing.T, fields []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	old, now, taken := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml"), filepath.Join(dir, "taken.yaml")
	var before, after []map[string]any
	for i, f := range fields {
		name := "web-" + strconv.Itoa(i)
		before = append(before, underName(k.base(t), name))
		after = append(after, underName(merged(k.base(t), f), name))
	}
	writeObjects(t, old, before...)
	writeObjects(t, now, after...)
	said := k.asked(t, nil, "lint", "-f", now, "--against", old, "-o", "json")
	k.asked(t, nil, "lint", "-f", now)
	k.asked(t, nil, "diff", old, now)
	k.asked(t, nil, "diff", now, old, "-o", "json")
	k.asked(t, nil, "render", "-f", now)
	refused := refusedNames(t, said)
	good := slices.DeleteFunc(slices.Clone(after), func(o map[string]any) bool { return refused[fmt.Sprint(asSchema(o["metadata"])["name"])] })
	if len(good) == 0 {
		return
	}
	writeObjects(t, taken, good...)
	k.asked(t, nil, "render", "-f", taken)
	k.asked(t, nil, "render", "-f", taken, "--target", "kruise", "--expand", "SidecarSet")
}

// refusedNames are the objects in which a report of lint has errors.
func refusedNames(t *testing.T, report string) map[string]bool {
	t.Helper()
	var r struct {
		Problems []struct {
			Severity string
			Object   struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatalf("%v\n%.500s", err, report)
	}
	out := map[string]bool{}
	for _, p := range r.Problems {
		if p.Severity == "error" {
			out[p.Object.Name] = true
		}
	}
	return out
}

// tryPlan plans the change that sets the fields together with a new image; every third one is
// simulated, and explained with its image alone.
func (k *definedKind) tryPlan(t *testing.T, random *rand.Rand, fields map[string]any) {
	t.Helper()
	dir := t.TempDir()
	old, now := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "new.yaml")
	before := k.base(t)
	if random.IntN(2) == 0 {
		before = merged(before, fields)
	}
	writeObjects(t, old, before)
	writeObjects(t, now, merged(merged(k.base(t), fields), nextImage(k.kind)))
	k.asked(t, fields, "plan", "-f", now, "--against", old)
	if random.IntN(3) == 0 {
		k.asked(t, fields, "simulate", "-f", now, "--against", old)
		k.asked(t, fields, "explain", "inplace", old, now)
	}
}

// nextImage changes the image of the container that all small objects have.
func nextImage(kind string) map[string]any {
	containers := []any{map[string]any{"image": "example.com/web:9"}}
	if kind == "SidecarSet" {
		return map[string]any{"spec": map[string]any{"containers": containers}}
	}
	return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}}}
}

// asked runs a verb and returns what it prints.
func (k *definedKind) asked(t *testing.T, fields map[string]any, args ...string) string {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s panics: %v\n%v", strings.Join(args, " "), p, fields)
		}
	}()
	code, out, errOut := call(t.Context(), t, "", args...)
	if at := internalError.FindString(out + errOut); at != "" {
		t.Errorf("%s: %q in its output\n%v\n%.2000s%.2000s", strings.Join(args, " "), at, fields, errOut, out)
	}
	if code == exitUsage && args[0] != "diff" {
		t.Fatalf("%s: exit %d, which tries nothing\n%.500s", strings.Join(args, " "), code, errOut)
	}
	return out
}

// smallest has a small valid object of each kind, without apiVersion, kind and name.
var smallest = map[string]string{
	"CloneSet":        podSet,
	"StatefulSet":     podSet,
	"DaemonSet":       strings.Replace(podSet, "replicas: 3, ", "", 1),
	"SidecarSet":      `spec: {selector: {matchLabels: {app: web}}, containers: [{name: mesh, image: "example.com/mesh:1"}]}`,
	"BroadcastJob":    `spec: {template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, containers: [{name: main, image: "example.com/web:1"}]}}}`,
	"AdvancedCronJob": `spec: {schedule: "0 3 * * *", template: {broadcastJobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "example.com/web:1"}]}}}}}}`,
	"UnitedDeployment": `spec: {replicas: 3, selector: {matchLabels: {app: web}}, topology: {subsets: [{name: a}, {name: b}]},
  template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "example.com/web:1"}]}}}}}}`,
	"WorkloadSpread":           `spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: CloneSet, name: web}, subsets: [{name: a, maxReplicas: 2}, {name: b}]}`,
	"ResourceDistribution":     `spec: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}, targets: {includedNamespaces: {list: [{name: shop}]}}}`,
	"PodUnavailableBudget":     `spec: {selector: {matchLabels: {app: web}}, maxUnavailable: 1}`,
	"PersistentPodState":       `spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: web}, requiredPersistentTopology: {nodeTopologyKeys: [kubernetes.io/hostname]}}`,
	"PodProbeMarker":           `spec: {selector: {matchLabels: {app: web}}, probes: [{name: idle, containerName: main, probe: {exec: {command: [idle]}}, podConditionType: example.com/idle}]}`,
	"ContainerRecreateRequest": `spec: {podName: web-0, containers: [{name: main}]}`,
	"EphemeralJob":             `spec: {selector: {matchLabels: {app: web}}, template: {ephemeralContainers: [{name: debug, image: "example.com/debug:1"}]}}`,
	"ImagePullJob":             `spec: {image: "example.com/web:1", completionPolicy: {type: Always}}`,
	"ImageListPullJob":         `spec: {images: ["example.com/web:1"], completionPolicy: {type: Always}}`,
	"NodeImage":                `spec: {images: {web: {tags: [{tag: "1"}]}}}`,
	"NodePodProbe":             `spec: {podProbes: [{name: web-0, namespace: shop, uid: a, probes: [{name: idle, containerName: main, probe: {exec: {command: [idle]}}}]}]}`,
}

const podSet = `spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "example.com/web:1"}]}}}`
