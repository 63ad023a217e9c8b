// Package version says which build this is, and which other plugins of this name are
// installed; it has the verb version. It runs no other program.
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// version is set by the linker; a plain `go build` or `go install` leaves it
// empty, and the module's own version serves.
var version string

// Info is what is known of the build.
type Info struct {
	Version   string `json:"version"`
	Commit    string `json:"commit,omitempty"`
	Date      string `json:"date,omitempty"`
	Modified  bool   `json:"modified,omitempty"`
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// Get gathers the build's facts from the linker and from Go's build info.
func Get() Info {
	i := Info{Version: version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return i
	}
	if i.Version == "" {
		i.Version = bi.Main.Version
	}
	for _, s := range bi.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date = s.Value
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}

// New returns the verb.
func New(f *factory.Factory) *cobra.Command {
	var output string
	var client bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how it was built",
		Long: `Print the version of this program and how it was built. No part of it runs in the cluster,
so --client changes nothing. A warning is printed if kubectl runs the older plugin of the
same name, or krew has installed that one.`,
		Example: "  kubectl kruise version\n  kubectl kruise version -o json",
		Args:    command.NoArgs(""),
		RunE: func(*cobra.Command, []string) error {
			err := write(f, Get(), output)
			for _, w := range Warnings(f.Streams.Getenv) {
				_, _ = fmt.Fprintf(f.Streams.Err, "warning: %s\nhint: %s\n", w.Text, w.Hint)
			}
			return err
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml (default: one line of text)")
	c.Flags().BoolVar(&client, "client", true, "accepted as by kubectl; only the client has a version")
	command.Offer(c, "output", "json", "yaml")
	return c
}

func write(f *factory.Factory, i Info, output string) error {
	var b []byte
	var err error
	switch output {
	case "":
		b = []byte(i.line())
	case "json":
		b, err = json.MarshalIndent(i, "", "  ")
	case "yaml":
		b, err = yaml.Marshal(i)
	default:
		return command.Usagef("use -o json or -o yaml", "unknown output format %q", output)
	}
	if err != nil {
		return err
	}
	if b[len(b)-1] != '\n' {
		b = append(b, '\n')
	}
	_, err = f.Streams.Out.Write(b)
	return err
}

func (i Info) line() string {
	s := "kubectl-kruise " + i.Version
	if i.Commit != "" {
		s += " (" + i.Commit[:min(12, len(i.Commit))]
		if i.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return fmt.Sprintf("%s %s %s\n", s, i.GoVersion, i.Platform)
}
