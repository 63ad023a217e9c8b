package standin_test

import (
	"testing"
)

const cloneSet = `
apiVersion: apps.kruise.io/v1beta1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible, maxUnavailable: 2}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: "registry.example.com/web:1"}]}
`

func TestCloneSetInPlace(t *testing.T) {
	b := newBed(t)
	b.apply(t, cloneSet)
	sets := b.of(t, "clonesets")
	b.await(t, sets, "web", map[string]int64{"availableReplicas": 4, "updatedReplicas": 4})
	before := b.pods(t, "app=web")
	b.patch(t, "clonesets", "web", `{"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "registry.example.com/web:2"}]}}}}`)
	b.await(t, sets, "web", map[string]int64{"updatedAvailableReplicas": 4})
	after := b.pods(t, "app=web")
	if same(before, after) != 4 || running(after, "registry.example.com/web:2") != 4 {
		t.Errorf("%d pods stayed, %d run the new image", same(before, after), running(after, "registry.example.com/web:2"))
	}
}
