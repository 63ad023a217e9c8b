package docrun

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"web paused", "web paused", true},
		{"web paused", "api paused", false},
		{"", "", true},
		{"", "web", false},
		{"web", "", false},
		{"a\n…\nd", "a\nb\nc\nd", true},
		{"a\n…\nd", "a\nd", true},
		{"a\n…\nd", "a\nb", false},
		{"a\n…", "a", true},
		{"…", "", true},
		{"a\n…\nb\n…\nc", "a\nb\nx\nb\nc", true},
		{"denied: … by x", "denied: (any) by x", true},
		{"denied: … by x", "denied by y", false},
		{"took 11s", "took 1m3s", true},
		{"took 11s", "took 11 s", false},
		{"16:29:19 done", "07:00:01 done", true},
		{"2026-01-02T03:04:05Z", "2027-11-12T13:14:15.123+02:00", true},
		{"web-x7k2p  node-1", "web-9lqzd     node-0", true},
		{"web-x7k2p", "web-24h6m", true},
		{"web-x7k2p", "web-1", false},
		{"web-6f89f446db", "web-5c9d8b7f66", true},
		{"web-6f89f446db-x7k2p", "web-5c9d8b7f66-9lqzd", true},
		{"web-proxy", "web-agent", false},
		{"NAME   AGE", "NAME     AGE", true},
		{"  indented", "indented", false},
	} {
		if got := Match(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")); got != c.want {
			t.Errorf("%q and %q: %t", c.shown, c.printed, got)
		}
	}
}
