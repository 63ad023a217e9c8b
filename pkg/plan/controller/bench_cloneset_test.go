package controller

import "testing"

// BenchmarkCloneSet is one pass over 10,000 pods: at rest, while updated pods
// come back, with a hundred to take, and with ten thousand to make.
func BenchmarkCloneSet(b *testing.B) {
	ordered := `priorityStrategy: {weightPriority: [{weight: 10, matchSelector: {matchLabels: {app: web}}}]}, scatterStrategy: [{key: app, value: web}], `
	for _, c := range []struct {
		name    string
		edits   []string
		updated int
	}{
		{"at rest", []string{"replicas: 3", "replicas: 10000"}, 10000},
		{"partition reached", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", "maxUnavailable: 100, partition: 50%"}, 5000},
		{"a hundred to take", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", "maxUnavailable: 100"}, 5000},
		{"a hundred to take in order", []string{"replicas: 3", "replicas: 10000", "maxUnavailable: 1", ordered + "maxUnavailable: 100"}, 5000},
		{"a hundred too many", []string{"replicas: 3", "replicas: 9900"}, 10000},
		{"as many again", []string{"replicas: 3", "replicas: 20000"}, 10000},
	} {
		b.Run(c.name, func(b *testing.B) {
			v := crowd(b, edited(cloneSetYAML, c.edits...), 10000, c.updated)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Reconcile(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
