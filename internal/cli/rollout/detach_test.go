package rollout

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestDetach_Refuses: what a Job cannot do is refused before a cluster is asked.
func TestDetach_Refuses(t *testing.T) {
	run := func(args ...string) []string {
		return append([]string{"run", "cloneset/web", "--image", "a=b"}, args...)
	}
	for name, c := range map[string]struct {
		args []string
		want string
		hint string
	}{
		"a command":          {run("--detach", "--verify-command", "true"), "--verify-command does not go with --detach", "has no programs"},
		"files":              {run("--detach", "--write-back", "web.yaml"), "--write-back does not go with --detach", "none of your files"},
		"a secret's file":    {run("--detach", "--notify-secret-file", "x"), "--notify-secret-file does not go with --detach", "--runner-notify-secret"},
		"JSON":               {run("--detach", "-o", "json"), "--output does not go with --detach", "rollout logs"},
		"waiting":            {run("--detach", "--exit-on-pause"), "--exit-on-pause does not go with --detach", ""},
		"no image":           {run("--detach"), "this build was not released, so there is no image of its version", "--runner-image"},
		"manifest alone":     {run("--manifest"), "--manifest is for a rollout that a Job carries out", "add --detach"},
		"image alone":        {run("--runner-image", "x"), "--runner-image is for a rollout that a Job carries out", "add --detach"},
		"of resume":          {[]string{"resume", "cloneset/web", "--runner-account", "x"}, "--runner-account is for a rollout that a Job carries out", "add --detach"},
		"a bad web hook":     {run("--notify", "x"), "--notify: it is no http or https address", ""},
		"no digest":          {[]string{"drive", "cloneset/web"}, "--approved is missing", ""},
		"metrics of a group": {[]string{"run", "-l", "a=b", "--image", "a=b", "--group", "all", "--listen", ":8080"}, "--listen is for the rollout of one workload", "status --group"},
		"drive of both":      {[]string{"drive", "cloneset/web", "--group", "all", "--approved", "sha256:1"}, "--group excludes TYPE/NAME", ""},
		"logs of both":       {[]string{"logs", "cloneset/web", "--group", "all"}, "--group excludes TYPE/NAME", ""},
		"of resume --group":  {[]string{"resume", "--group", "all", "--runner-account", "x"}, "--runner-account is for a rollout that a Job carries out", "add --detach"},
		"drive of nothing":   {[]string{"drive"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := New(factory.New(factory.Streams{In: strings.NewReader(""), Out: &out, Err: &out}), nil)
			cmd.SetArgs(c.args)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.Execute()
			bad, ok := errors.AsType[*command.UsageError](err)
			if !ok || c.want != "" && bad.Error() != c.want || !strings.Contains(bad.Hint, c.hint) {
				t.Errorf("%v", err)
			}
		})
	}
}
