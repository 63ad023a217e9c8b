package installation

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
)

// Name is the name of the flag.
const Name = "kruise-version"

// Flag is the value of --kruise-version. The zero value is a release that is not known.
type Flag struct {
	text  string
	given kruise.Release
}

// Add puts the flag onto a command; without says where the release comes from when it is
// not given, such as "the newest release".
func (f *Flag) Add(c *cobra.Command, without string) {
	c.Flags().StringVar(&f.text, Name, "", fmt.Sprintf("release of Kruise, such as 1.8 or 1.8.4; next is its main branch (default: %s)", without))
	var offers []string
	for _, r := range kruise.Releases() {
		if !r.Before(kruise.OldestRecorded) {
			offers = append(offers, r.String())
		}
	}
	command.Offer(c, Name, offers...)
}

// Complete reads what was given; what is wrong is a usage error.
func (f *Flag) Complete() error {
	if f.text == "" {
		return nil
	}
	r, err := kruise.ParseRelease(f.text)
	if err != nil {
		return command.Usagef("1.0 to "+kruise.NewestRelease.String()+", or next", "--%s: %v", Name, err)
	}
	f.given = r
	return nil
}

// Given is the release that was given; the zero value where none was.
func (f *Flag) Given() kruise.Release { return f.given }

// Or is the release that was given, or else another that is known.
func (f *Flag) Or(known kruise.Release) kruise.Release {
	if f.given.IsZero() {
		return known
	}
	return f.given
}

// Warn says, of a release of which no answers were recorded, that the tables are all that
// is known.
func Warn(w io.Writer, r kruise.Release) {
	if !r.IsZero() && r.Before(kruise.OldestRecorded) {
		_, _ = fmt.Fprintf(w, "warning: of %s only fields and versions are known: its answers were not recorded, those of %s and newer were\n", r.Name(), kruise.OldestRecorded)
	}
}
