package cli

import (
	"context"
	"strings"
	"testing"
)

// TestDiff_ExitCodes: 1 is for differences alone; whatever goes wrong is more.
func TestDiff_ExitCodes(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	a, b := file(t, lossy), file(t, strings.Replace(lossy, "web:1", "web:2", 1))
	for _, c := range []struct {
		ctx  context.Context
		in   string
		args []string
		want int
	}{
		{args: []string{a, a}, want: 0},
		{args: []string{a, b}, want: 1},
		{in: lossy, args: []string{a, "-"}, want: 0},
		{in: lossy, args: []string{"-", b}, want: 1},
		{args: []string{a, "/dev/null"}, want: 1},
		{args: []string{"/dev/null", "/dev/null"}, want: 0},
		{args: []string{a}, want: 2},
		{args: []string{a, ""}, want: 2},
		{args: []string{a, b, a}, want: 2},
		{args: []string{"-", "-"}, want: 2},
		{args: []string{a, "-", "--with", "-"}, want: 2},
		{args: []string{a, b, "-o", "xml"}, want: 2},
		{args: []string{a, b, "--no-such-flag"}, want: 2},
		{args: []string{a, b, "--color", "pink"}, want: 2},
		{args: []string{a, "/nonexistent"}, want: 2},
		{args: []string{a, b, "--with", "/nonexistent"}, want: 2},
		{in: "a: [", args: []string{a, "-"}, want: 2},
		{in: strings.Repeat("[", 100_000), args: []string{a, "-"}, want: 2},
		{in: "\x00\x01", args: []string{a, "-"}, want: 2},
		{in: lossy + "---\n" + lossy, args: []string{a, "-"}, want: 2},
		{in: strings.Replace(lossy, "app: web", "app: other", 1), args: []string{a, "-", "--rendered"}, want: 2},
		{args: []string{"--git", "HEAD"}, want: 2},
		{args: []string{"--git", "", a}, want: 2},
		{args: []string{"--git", "no-such-revision", "."}, want: 2},
		{args: []string{a, "-f", b}, want: 2},
		{args: []string{"--git", "HEAD", "-f", b}, want: 2},
		{args: []string{"-f", b, "-o", "json"}, want: 2},
		{args: []string{a, b, "--server-side"}, want: 2},
		{args: []string{"-f", b, "--server", "http://127.0.0.1:1"}, want: 2},
		{ctx: done, args: []string{a, b}, want: 130},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		code, out, errOut := call(ctx, t, c.in, append([]string{"diff"}, c.args...)...)
		if code != c.want {
			t.Errorf("%q: exit %d, want %d\n%s%s", c.args, code, c.want, out, errOut)
		}
		if said := strings.Contains(errOut, "error: "); said != (code == 2) {
			t.Errorf("%q: exit %d says %q", c.args, code, errOut)
		}
	}
}
