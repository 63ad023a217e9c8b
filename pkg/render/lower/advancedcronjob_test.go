package lower_test

import (
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// TestAdvancedCronJob_RefusesPodsThatNeverEnd: Kruise lets through what the API server refuses of a Job.
func TestAdvancedCronJob_RefusesPodsThatNeverEnd(t *testing.T) {
	const cron = `apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "15 2 * * *"
  template:
    jobTemplate:
      spec:
        template:
          spec:
            containers: [{name: run, image: "example.com/nightly:1"}]
`
	for policy, want := range map[string]string{
		"":          `a Job's pods must end, and "Always" starts them again`,
		"Always":    `a Job's pods must end, and "Always" starts them again`,
		"Never":     "",
		"OnFailure": "",
	} {
		input := cron
		if policy != "" {
			input += "            restartPolicy: " + policy + "\n"
		}
		_, _, err := run(t, stage.Native, input)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "jobTemplate.spec.template.spec.restartPolicy: "+want)) {
			t.Errorf("%q: %v, want %q", policy, err, want)
		}
	}
}

// TestAdvancedCronJob_RefusesJobsThatNeverEnd: what never completes cannot be made again and again, also when it
// would make nothing.
func TestAdvancedCronJob_RefusesJobsThatNeverEnd(t *testing.T) {
	for _, template := range []string{
		`broadcastJobTemplate: {spec: {parallelism: 0, completionPolicy: {type: Never}, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "c:1"}]}}}}`,
		`imageListPullJobTemplate: {spec: {parallelism: 0, completionPolicy: {type: Never}, images: ["c:1"]}}`,
	} {
		_, _, err := run(t, stage.Native, `apiVersion: apps.kruise.io/v1beta1
kind: AdvancedCronJob
metadata: {name: nightly, namespace: shop}
spec: {schedule: "15 2 * * *", template: {`+template+`}}
`)
		if err == nil || !strings.Contains(err.Error(), "spec.completionPolicy.type: a run that never completes") {
			t.Errorf("%s: %v", template, err)
		}
	}
}
