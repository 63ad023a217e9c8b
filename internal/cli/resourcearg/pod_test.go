package resourcearg

import "testing"

func TestParsePod_AcceptsNamesOfPods(t *testing.T) {
	for arg, want := range map[string]string{
		"pod/web-0": "pod/web-0", "pods/web-0": "pod/web-0", "Po/web-0": "pod/web-0",
		"web-0": "", "pod/": "", "pod/a/b": "", "cloneset/web": "",
	} {
		if n, ok := ParsePod(arg); ok != (want != "") || n.String() != want {
			t.Errorf("%s: %q, %v", arg, n, ok)
		}
	}
	for _, arg := range []string{"pod/web-0", "cloneset/web"} {
		if n, err := ParseAny(arg); err != nil || n.String() != arg {
			t.Errorf("%s: %q, %v", arg, n, err)
		}
	}
	if _, err := ParseAny("pod/"); err == nil {
		t.Error("a pod without a name")
	}
}
