package objects

import "testing"

// TestPausedPatch_NamesTheUID: a pause is written for one object, and never for its successor.
func TestPausedPatch_NamesTheUID(t *testing.T) {
	for want, on := range map[string]bool{
		`{"metadata":{"uid":"u"},"spec":{"updateStrategy":{"paused":true}}}`: true,
		`{"metadata":{"uid":"u"},"spec":{"updateStrategy":{"paused":null}}}`: false,
	} {
		if got, err := pausedPatch("u", []string{"spec", "updateStrategy", "paused"}, on); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
