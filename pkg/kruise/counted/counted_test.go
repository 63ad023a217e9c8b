package counted

import "testing"

func TestOf_OneIsSingular(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 pods", 0: "0 pods", 1: "1 pod", 2: "2 pods", 11: "11 pods"} {
		if got := Of(n, "pod"); got != want {
			t.Errorf("Of(%d) = %q, want %q", n, got, want)
		}
	}
	for noun, want := range map[string]string{"entry": "2 entries", "patch": "2 patches", "API write": "2 API writes", "copy": "2 copies"} {
		if got := Of(2, noun); got != want {
			t.Errorf("Of(2, %s) = %q, want %q", noun, got, want)
		}
	}
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}, "a, b, c and others": {"a", "b", "c", "d", "e"}} {
		if got := Some(names); got != want {
			t.Errorf("Some(%v) = %q, want %q", names, got, want)
		}
	}
	if got := PodsAre(1) + ", " + PodsAre(0) + ", " + Word(1, "it stays", "they stay"); got != "1 pod is, 0 pods are, it stays" {
		t.Error(got)
	}
}
