package tree

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kindsOfObjects are types whose fields are of every sort.
var kindsOfObjects = []reflect.Type{
	reflect.TypeFor[thing](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[appsv1.Deployment](), reflect.TypeFor[appsv1.StatefulSet](),
	reflect.TypeFor[batchv1.CronJob](), reflect.TypeFor[corev1.Service](), reflect.TypeFor[corev1.Secret](), reflect.TypeFor[policyv1.PodDisruptionBudget](),
	reflect.TypeFor[corev1.Node](), reflect.TypeFor[metav1.LabelSelector](), reflect.TypeFor[map[string]string](), reflect.TypeFor[corev1.PersistentVolume](),
}

// TestDirect_IsAsThroughJSON decodes random objects, most of them with a fault, both ways.
func TestDirect_IsAsThroughJSON(t *testing.T) {
	rnd, taken := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 4000 {
		kind := kindsOfObjects[i%len(kindsOfObjects)]
		obj := reflect.New(kind)
		fill(rnd, obj.Elem(), 5)
		n := FromValue(fromJSON(obj.Interface()))
		for range rnd.IntN(4) {
			spoil(rnd, n)
		}
		fast, slow, got := reflect.New(kind), reflect.New(kind), reflect.New(kind)
		wantUnknown, wantErr := throughJSON(n, slow.Interface())
		gotUnknown, gotErr := Decode(n, got.Interface())
		if direct(n, fast.Elem()) {
			taken++
			if wantErr != nil || len(wantUnknown) > 0 || !reflect.DeepEqual(fast.Interface(), slow.Interface()) {
				t.Fatalf("%s: %v, unknown %v, %s", kind, wantErr, wantUnknown, cmp.Diff(asText(t, slow.Interface()), asText(t, fast.Interface())))
			}
		}
		if !reflect.DeepEqual(gotUnknown, wantUnknown) || !reflect.DeepEqual(gotErr, wantErr) || !reflect.DeepEqual(got.Interface(), slow.Interface()) {
			t.Fatalf("%s: %v, want %v; unknown %v, want %v", kind, gotErr, wantErr, gotUnknown, wantUnknown)
		}
	}
	if taken < 1000 {
		t.Errorf("only %d objects were read directly", taken)
	}
}

func TestDirect_ReadsWorkloads(t *testing.T) {
	n := document(t, `
metadata: {name: web, creationTimestamp: null}
spec:
  replicas: 0x10
  strategy: {rollingUpdate: {maxSurge: 20%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: web}, creationTimestamp: 2026-01-02T03:04:05Z}
    spec: {containers: [{name: a, image: "web:1", resources: {limits: {cpu: 0.5, memory: 1Gi}}}], volumes: []}`)
	var got appsv1.Deployment
	if !direct(n, reflect.ValueOf(&got).Elem()) {
		t.Fatal("it was read by way of JSON")
	}
	var want appsv1.Deployment
	if _, err := throughJSON(n, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %s", err, cmp.Diff(asText(t, want), asText(t, got)))
	}
}

func TestDecode_IntoWhatIsNotEmpty(t *testing.T) {
	got := thing{Text: "kept", Names: []string{"old"}}
	if _, err := Decode(document(t, "{names: [new], number: 1}"), &got); err != nil || got.Text != "kept" || got.Names[0] != "new" {
		t.Errorf("%v, %+v", err, got)
	}
}

// TestPlain_IsAsThroughJSON writes random objects both ways.
func TestPlain_IsAsThroughJSON(t *testing.T) {
	rnd, taken := rand.New(rand.NewPCG(3, 4)), 0
	for i := range 2000 {
		obj := reflect.New(kindsOfObjects[i%len(kindsOfObjects)])
		fill(rnd, obj.Elem(), 5)
		var want map[string]any
		if err := json.Unmarshal([]byte(asText(t, obj.Interface())), &want); err != nil {
			t.Fatal(err)
		}
		if _, ok := plainly(obj.Interface(), asFloat); ok {
			taken++
		}
		got, err := Plain(obj.Interface())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, %s", obj.Type(), err, cmp.Diff(want, got))
		}
		if ours, theirs := FromValue(obj.Interface()), FromValue(fromJSON(obj.Interface())); !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("%s: other nodes", obj.Type())
		}
	}
	if taken < 1000 {
		t.Errorf("only %d objects were written directly", taken)
	}
}

func TestPlain_OfWhatIsNoMapping(t *testing.T) {
	if v, err := Plain("text"); err == nil {
		t.Errorf("got %v", v)
	}
	if v, err := Plain((*corev1.Pod)(nil)); err != nil || v != nil {
		t.Errorf("got %v, %v", v, err)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fill puts random values into some of the fields, as deep as that.
func fill(rnd *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse(pick(rnd, "1", "500m", "1Gi", "0.5", "1e3", "-2"))))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Unix(rnd.Int64N(2e9), 0).Rfc3339Copy()))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.Parse(pick(rnd, "1", "20%", "http", "0"))))
		return
	}
	if depth == 0 || rnd.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(pick(rnd, "a", "yes", "1.5", "<é\u2028>", "two words\n", "", "null", "2026-01-02T03:04:05Z"))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(rnd.Int64N(100) - 20)
	case reflect.Float64:
		v.SetFloat(rnd.Float64())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rnd, v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(3), 3))
		for i := range v.Len() {
			fill(rnd, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rnd.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(rnd, key, 1)
			fill(rnd, value, depth-1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(rnd, field, depth-1)
			}
		}
	}
}

// spoil changes one node somewhere below n, so that it may no longer fit.
func spoil(rnd *rand.Rand, n *Node) {
	for len(n.Content) > 0 && rnd.IntN(4) > 0 {
		n = n.Content[rnd.IntN(len(n.Content))]
	}
	if IsMap(n) && rnd.IntN(2) == 0 {
		n.Content = append(n.Content, String(pick(rnd, "name", "odd", "Number")), FromValue("x"))
		return
	}
	*n = *FromValue([]any{nil, "text", 1, 1.5, true, "1e99999", map[string]any{"a": "b"}, []any{"x"}, "12", int64(1) << 40}[rnd.IntN(10)])
}

func pick(rnd *rand.Rand, all ...string) string { return all[rnd.IntN(len(all))] }
