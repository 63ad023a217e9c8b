package inject

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLaunchPriorities(t *testing.T) {
	for _, tt := range []struct {
		name, pod string
		want      []int
		refused   bool
	}{
		{name: "ordered", want: []int{0, -1}, pod: `{metadata: {annotations: {apps.kruise.io/container-launch-priority: Ordered}},
			spec: {containers: [{name: a}, {name: b, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]}]}}`},
		{name: "other annotation value", pod: `{metadata: {annotations: {apps.kruise.io/container-launch-priority: ordered}}, spec: {containers: [{name: a}, {name: b}]}}`},
		{name: "by env, the last one counts", want: []int{1, 0}, pod: `{spec: {containers: [
			{name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: "7"}, {name: KRUISE_CONTAINER_PRIORITY, value: "1"}]}, {name: b}]}}`},
		{name: "all equal", pod: `{spec: {containers: [{name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: "5"}]}, {name: b, env: [{name: KRUISE_CONTAINER_PRIORITY, value: "5"}]}]}}`},
		{name: "single", pod: `{spec: {containers: [{name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]}]}}`},
		{name: "no integer", refused: true, pod: `{spec: {containers: [{name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}]}, {name: b}]}}`},
		{name: "no integer before one", refused: true, pod: `{spec: {containers: [
			{name: a, env: [{name: KRUISE_CONTAINER_PRIORITY, value: high}, {name: KRUISE_CONTAINER_PRIORITY, value: "1"}]}, {name: b}]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := LaunchPriorities(parse(t, tt.pod))
			if (err != nil) != tt.refused {
				t.Fatalf("error %v, want refused %v", err, tt.refused)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
