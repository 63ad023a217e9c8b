package pages_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/tuitest"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/screen"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

const manifest = `apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata:
  name: web
  namespace: shop
  managedFields: [{manager: kubectl}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"env":"hunter1"}}'
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: registry.example.com/team/web:1.4.2
        command: ["/bin/web", "--db-password", "hunter2"]
        env:
        - {name: MODE, value: "fast: and loose"}
        - {name: API_TOKEN, value: hunter3}
`

const description = `Name:         web-x7k2p
Namespace:    shop
Containers:
  app:
    Image:      registry.example.com/team/web:1.4.2
    Environment:
      MODE:         fast
      DB_PASSWORD:  hunter2
                    hunter3: more
      API_TOKEN:    <set to the key 'token' in secret 'web'>  Optional: false
    Mounts:
      /var/run/secrets from token (ro)
Volumes:
  token:
    SecretName:  web-token
Events:          <none>
`

func textOf(texts map[string]string, open screen.Open) (tui.Options, *tuitest.Still) {
	still := tuitest.NewStill(world.World{
		Now: now, At: now, Loaded: true, Where: world.Where{Context: "lab"},
		Workloads: []*world.Workload{{Ref: web}},
	})
	still.Texts = texts
	open.Screen = screen.Text
	return tui.Options{Source: still, Actions: still, First: open}, still
}

func TestObject_EqualsTheGoldens(t *testing.T) {
	o, _ := textOf(map[string]string{"web": manifest}, screen.Open{Ref: web, Text: "yaml"})
	tuitest.Golden(t, "yaml", o, func(s *tuitest.Session) string { return s.Until("cloneset/web as YAML", "apiVersion") })
	o, _ = textOf(map[string]string{"web-x7k2p": description}, screen.Open{Ref: web, Pod: "web-x7k2p", Text: "describe"})
	tuitest.Golden(t, "describe", o, func(s *tuitest.Session) string { return s.Until("describe pod/web-x7k2p", "Namespace:") })
}

// TestObjectSearch_MarksMatches: what is searched for is marked, and one is there.
func TestObjectSearch_MarksMatches(t *testing.T) {
	o, _ := textOf(map[string]string{"web": manifest}, screen.Open{Ref: web, Text: "yaml"})
	tuitest.Golden(t, "search", o, func(s *tuitest.Session) string {
		s.Until("apiVersion")
		s.Press("/").Type("WEB").Press("enter", "n")
		return s.Until("/WEB 2 of ")
	})
}

// TestManifest_MasksSecrets checks that only secret values are masked.
func TestManifest_MasksSecrets(t *testing.T) {
	for text, has := range map[string][]string{"yaml": {"API_TOKEN", "MODE", "fast: and loose", "registry.example.com"}, "describe": {"DB_PASSWORD:  ***", "MODE", "<set to the key 'token'", "SecretName:  web-token"}} {
		o, _ := textOf(map[string]string{"web": map[string]string{"yaml": manifest, "describe": description}[text]}, screen.Open{Ref: web, Text: text})
		if frame := tuitest.Plain(tuitest.Start(t, o, tuitest.Sizes[2]).Until(has...)); strings.Contains(frame, "hunter") || strings.Contains(frame, "managedFields") {
			t.Errorf("%s:\n%s", text, frame)
		}
	}
}

// TestManifest_OfASecretIsMasked checks a source that masks nothing itself.
func TestManifest_OfASecretIsMasked(t *testing.T) {
	ref := cluster.Ref{Kind: "Secret", Namespace: "shop", Name: "db"}
	o, still := textOf(map[string]string{"db": "kind: Secret\ndata: {password: aHVudGVyMg==}\n"}, screen.Open{Ref: ref, Text: "yaml"})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	if frame := s.Until("password: '***'"); strings.Contains(frame, "aHVu") {
		t.Error(tuitest.Plain(frame))
	}
	still.Texts = map[string]string{"db": "kind: Secret\n data: aHVudGVyMg==\n"}
	s.Press("r")
	if frame := s.Until("is not YAML"); strings.Contains(frame, "aHVu") {
		t.Error(tuitest.Plain(frame))
	}
}

// TestObjectReload_KeepsThePlace: r asks again, and one stays where one is.
func TestObjectReload_KeepsThePlace(t *testing.T) {
	o, still := textOf(map[string]string{"web": manifest}, screen.Open{Ref: web, Text: "yaml"})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("apiVersion")
	s.Press("G")
	s.Until("image: registry")
	still.Texts = map[string]string{"web": strings.ReplaceAll(manifest, "1.4.2", "1.5.0")}
	s.Press("r")
	s.Until("web:1.5.0")
}

// TestObjectEsc_ClearsTheSearchFirst: esc takes the search away first, and then the page.
func TestObjectEsc_ClearsTheSearchFirst(t *testing.T) {
	o, _ := textOf(map[string]string{"web": manifest}, screen.Open{Ref: web, Text: "yaml"})
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	s.Until("apiVersion")
	s.Press("/").Type("image").Press("enter")
	s.Until("/image 1 of 1")
	s.Press("esc")
	s.Gone("/image 1 of 1")
	s.Press("esc")
	s.Until("1 workload")
}

// TestObject_WrapsLines: w breaks long lines; right shows scroll right.
func TestObject_WrapsLines(t *testing.T) {
	long := "kind: CloneSet\nmetadata: {name: web}\nspec: {note: " + strings.Repeat("0123456789", 7) + "END}\n"
	o, _ := textOf(map[string]string{"web": long}, screen.Open{Ref: web, Text: "yaml"})
	s := tuitest.Start(t, o, tuitest.Sizes[0])
	s.Until("note:")
	s.Press("right", "right", "right", "right")
	s.Until("END")
	s.Press("left", "left", "left", "left")
	s.Gone("END")
	s.Press("w")
	s.Until("note:", "END")
}

// slow is a source whose texts wait.
type slow struct {
	*tuitest.Still
	turn chan struct{}
}

func (s slow) Manifest(ctx context.Context, r cluster.Ref) (string, error) {
	<-s.turn
	return s.Still.Manifest(ctx, r)
}

// TestObject_ShowsItsAgeWhileItReloads: a text is as old as it is until the next one is there, and its age is shown.
func TestObject_ShowsItsAgeWhileItReloads(t *testing.T) {
	o, still := textOf(map[string]string{"web": manifest}, screen.Open{Ref: web, Text: "yaml"})
	waits := slow{still, make(chan struct{}, 1)}
	o.Source = waits
	s := tuitest.Start(t, o, tuitest.Sizes[1])
	waits.turn <- struct{}{}
	s.Until("as of 03:00:00")
	still.Show(world.World{Now: now.Add(time.Minute), At: now.Add(time.Minute), Loaded: true, Where: world.Where{Context: "lab"}})
	s.Until("03:01:00")
	s.Press("r")
	s.Until("as of 03:00:00  loading again")
	waits.turn <- struct{}{}
	s.Until("as of 03:01:00")
	s.Gone("loading again")
}
