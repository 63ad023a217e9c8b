package kubectl

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// TestReadStdin_OnlyWhereObjectsComeFromIt: standard input of any other command stays unread.
func TestReadStdin_OnlyWhereObjectsComeFromIt(t *testing.T) {
	for _, c := range []struct {
		files []string
		text  string
		want  string
		read  bool
	}{
		{[]string{"-"}, "kind: Pod\n", "kind: Pod\n", true},
		{[]string{"a.yaml", "-"}, "kind: Pod\n", "kind: Pod\n", true},
		{[]string{"-"}, "", "", true},
		{[]string{"a.yaml"}, "kind: Pod\n", "", false},
	} {
		in := strings.NewReader(c.text)
		cmd := &cobra.Command{}
		cmd.Flags().StringSliceP("filename", "f", c.files, "")
		got, err := ReadStdin(cmd, &factory.Factory{Streams: factory.Streams{In: in}})
		if err != nil || string(got) != c.want || (got != nil) != c.read || c.read && in.Len() > 0 {
			t.Errorf("-f %v: %q, %v, %d bytes left", c.files, got, err, in.Len())
		}
	}
	if got, err := ReadStdin(&cobra.Command{}, &factory.Factory{}); got != nil || err != nil {
		t.Errorf("without -f: %q, %v", got, err)
	}
}

// TestWithStdin_HandsOn: a command finds the whole text, more than a pipe holds, may leave some of it, and standard
// input is the process's own again afterwards, which a command without a text reads.
func TestWithStdin_HandsOn(t *testing.T) {
	own, text := os.Stdin, []byte(strings.Repeat("0123456789abcdef", 1<<16))
	var got []byte
	err := WithStdin(text, func() (err error) {
		got, err = io.ReadAll(os.Stdin)
		return err
	})
	if err != nil || string(got) != string(text) {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	stopped := errors.New("it has read enough")
	err = WithStdin(text, func() error {
		_, err := os.Stdin.Read(make([]byte, 10))
		return errors.Join(stopped, err)
	})
	if !errors.Is(err, stopped) || os.Stdin != own {
		t.Errorf("%v; standard input is restored: %t", err, os.Stdin == own)
	}
	if err := WithStdin(nil, func() error {
		if os.Stdin != own {
			return errors.New("another one")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
