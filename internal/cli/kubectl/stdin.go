package kubectl

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
)

// ReadStdin returns what is on standard input where a command of kubectl takes its objects from there, no more
// than a file may have; nil where it does not. [WithStdin] hands it on.
func ReadStdin(c *cobra.Command, f *factory.Factory) ([]byte, error) {
	files, err := c.Flags().GetStringSlice("filename")
	if err != nil || !slices.Contains(files, "-") {
		return nil, nil //nolint:nilerr // a command without the flag takes no objects
	}
	text, err := load.File("-", f.Streams.In, 0)
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// WithStdin runs a command of kubectl that finds a text on standard input: kubectl reads that of the process, whatever
// streams it is given. Of nil, standard input stays as it is.
func WithStdin(text []byte, run func() error) error {
	if text == nil {
		return run()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	own := os.Stdin
	os.Stdin = r
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = w.Write(text) // a command that ends before it has read all has said why
		_ = w.Close()
	}()
	defer func() {
		os.Stdin = own
		_ = r.Close()
		<-written
	}()
	return run()
}
