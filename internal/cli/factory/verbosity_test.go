package factory

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
)

func TestVerbosityArgs_AcceptKlogsForm(t *testing.T) {
	given := []string{"get", "-v=9", "-v=true", "-v=1", "-v", "--", "-v=9"}
	want := []string{"get", "--v=9", "-v=true", "-v=1", "-v", "--", "-v=9"}
	if diff := cmp.Diff(want, SpellVerbosity(given)); diff != "" || given[1] != "-v=9" {
		t.Errorf("%s %q", diff, given)
	}
}

// TestLog_MasksAndCutsBodies: a line is logged up to its level; bodies are masked whole and then cut.
func TestLog_MasksAndCutsBodies(t *testing.T) {
	long := `{"kind":"Secret","data":{"a":"hunter2"},"type":"` + strings.Repeat("x", 2000) + `"}`
	for _, c := range []struct {
		level int
		want  string
	}{
		{6, "a b=\"c\"\ne err=\"d\"\n"},
		{8, "a b=\"c\"\nbody body={\"data\":{\"a\":\"***\"},\"kind\":\"Secret\",\"type\":\"" + strings.Repeat("x", 980) + " [truncated 1022 bytes]\nbody body=(not JSON: 11 bytes)\ne err=\"d\"\n"},
		{10, "a b=\"c\"\nbody body={\"data\":{\"a\":\"***\"},\"kind\":\"Secret\",\"type\":\"" + strings.Repeat("x", 2000) + "\"}\nbody body=(not JSON: 11 bytes)\nten\ne err=\"d\"\n"},
	} {
		var b bytes.Buffer
		l := logr.New(&logSink{level: c.level, out: &lineWriter{out: &b}})
		l.WithName("n").WithValues("b", "c").V(6).Info("a")
		l.V(8).Info("body", "body", long)
		l.V(8).Info("body", "body", "hunter2: [a")
		l.V(10).Info("ten")
		l.V(11).Info("never")
		l.Error(errors.New("d"), "e")
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("level %d: %s", c.level, diff)
		}
	}
}
