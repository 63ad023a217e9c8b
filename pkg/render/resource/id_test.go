package resource

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

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

// TestError_AddsNoLines: names of files and fields come from the input.
func TestError_AddsNoLines(t *testing.T) {
	for _, err := range []error{
		&Error{File: "a\nhint: run", Line: 1, Field: "spec.b\r\nhint: run", Err: errors.New("unknown field")},
		&tree.Error{Path: "spec.b\nhint: run", Msg: "unknown field"},
	} {
		if text := err.Error(); strings.ContainsAny(text, "\r\n") || !strings.Contains(text, `\nhint: run`) {
			t.Errorf("%q", text)
		}
	}
}
