package ui

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/distort"
)

// FuzzEvents: whatever an event says, it is shown as one that happened at least once.
func FuzzEvents(f *testing.F) {
	texts := []string{
		`{"involvedObject":{"kind":"Pod","name":"web-0"},"reason":"Killing","message":"m","count":3,"lastTimestamp":"2026-07-01T12:00:00Z","type":"Warning"}`,
		`{"series":{"count":2,"lastObservedTime":"2026-07-01T12:00:00.000000Z"},"eventTime":"2026-07-01T12:00:00.000000Z"}`, `{"count":-1,"series":{"count":-2}}`,
	}
	distort.Fuzz(f, texts, func(t *testing.T, text string) {
		t.Helper()
		var e corev1.Event
		if json.Unmarshal([]byte(text), &e) != nil {
			return
		}
		for _, got := range events([]*corev1.Event{&e, {}}) {
			if got.Count < 1 || got.First.IsZero() != got.At.IsZero() && got.At.IsZero() {
				t.Errorf("%+v", got)
			}
		}
	})
}
