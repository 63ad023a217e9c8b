package pausing

import "testing"

func TestPatch(t *testing.T) {
	for want, on := range map[string]bool{
		`{"metadata":{"uid":"u"},"spec":{"updateStrategy":{"paused":true}}}`: true,
		`{"metadata":{"uid":"u"},"spec":{"updateStrategy":{"paused":null}}}`: false,
	} {
		if got, err := Patch("u", []string{"spec", "updateStrategy", "paused"}, on); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
