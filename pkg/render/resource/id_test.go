package resource

import "testing"

func TestID_IsOneLine(t *testing.T) {
	for _, id := range []ID{{Kind: "CloneSet", Name: "web\nhint: run sh"}, {Kind: "CloneSet", Namespace: "a\r\n::error::b", Name: "web"}, {Kind: "Clone\u2028Set\n"}} {
		for _, r := range id.String() {
			if r < ' ' || r == '\u2028' {
				t.Errorf("%q has %q", id.String(), r)
			}
		}
	}
	if got := (ID{Kind: "CloneSet", Namespace: "shop", Name: `wéb"`}).String(); got != `CloneSet shop/wéb"` {
		t.Error(got)
	}
}
