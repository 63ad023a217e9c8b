package input

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// ManifestFlags name the manifests that a verb reads, how a kustomization among them is built, and
// how much is read.
type ManifestFlags struct {
	Files     []string
	Recursive bool
	Kustomize string
	Build     KustomizationFlags
	Limits    LimitFlag
}

// Add adds the flags to a verb, with what -f and -k are for it; those of Limits a verb adds itself.
func (m *ManifestFlags) Add(c *cobra.Command, files, kustomization string) {
	fl := c.Flags()
	fl.StringSliceVarP(&m.Files, "filename", "f", nil, files)
	fl.BoolVarP(&m.Recursive, "recursive", "R", false, "descend into the directories named with -f")
	fl.StringVarP(&m.Kustomize, "kustomize", "k", "", kustomization)
	m.Build.Add(c)
	_ = c.MarkFlagFilename("filename", "yaml", "yml", "json")
	_ = c.MarkFlagDirname("kustomize")
}

// Given reports whether manifests are named.
func (m *ManifestFlags) Given() bool { return len(m.Files) > 0 || m.Kustomize != "" }

// Sources are the files, directories or the kustomization that are named.
func (m *ManifestFlags) Sources() []string {
	if m.Kustomize != "" {
		return []string{m.Kustomize}
	}
	return m.Files
}

// Complete refuses flags that do not go together. Errors are of usage.
func (m *ManifestFlags) Complete() error {
	const hint = "a kustomization names its own files"
	switch {
	case len(m.Files) > 0 && m.Kustomize != "":
		return command.Usagef(hint, "only one of -f or -k can be specified")
	case m.Kustomize != "" && m.Recursive:
		return command.Usagef(hint, "-k and -R exclude each other")
	}
	if err := m.Limits.Complete(); err != nil {
		return err
	}
	return m.Build.Complete(m.Kustomize)
}

// Load returns opt with what the flags say.
func (m *ManifestFlags) Load(opt load.Options) load.Options {
	opt.Files, opt.Recursive, opt.Kustomize = m.Files, m.Recursive, m.Kustomize
	return m.Limits.Load(m.Build.Load(opt))
}

// KustomizationFlags say how a kustomization is built.
type KustomizationFlags struct {
	// Folder is what it may read: the folder that was named, "" for the Git work tree that holds the
	// kustomization, or the kustomization itself.
	Folder string
	// Schema says whether Kruise's schema takes part, nil without the flag.
	Schema *bool
}

const schemaFlag = "kruise-schema"

// Add adds the flags to a verb.
func (f *KustomizationFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Folder, "root", "", "folder that the kustomization may read (default: the Git work tree that holds it, or else its own folder)")
	c.Flags().Var(unsetBool{&f.Schema}, schemaFlag, "true or false: whether Kruise's schema takes part in the build of the kustomization, as kustomize itself has it by its component (default: only where the kustomization names it)")
	c.Flags().Lookup(schemaFlag).NoOptDefVal = "true"
	command.Offer(c, schemaFlag, "true", "false")
	_ = c.MarkFlagDirname("root")
}

// Complete refuses the flags without a kustomization.
func (f *KustomizationFlags) Complete(kustomize string) error {
	const hint = "name a kustomization with -k"
	switch {
	case f.Folder != "" && kustomize == "":
		return command.Usagef(hint, "--root is for a kustomization")
	case f.Schema != nil && kustomize == "":
		return command.Usagef(hint, "--"+schemaFlag+" is for a kustomization")
	}
	return nil
}

// Load sets how the kustomization is built.
func (f *KustomizationFlags) Load(opt load.Options) load.Options {
	opt.Root, opt.KruiseSchema = f.Folder, f.Schema
	return opt
}

// WarnUndecided reports places where Kruise's schema would change what is built, for verbs
// that write nothing. The hint is the same for all of a kustomization.
func WarnUndecided(w io.Writer, places []*resource.Error) {
	hint := ""
	for _, e := range places {
		_, _ = fmt.Fprintf(w, "warning: %v\n", e)
		if e.Hint != hint {
			hint = e.Hint
			_, _ = fmt.Fprintf(w, "hint: %s\n", hint)
		}
	}
}

// unsetBool is a flag that is true, false or not given.
type unsetBool struct{ value **bool }

// String is the value, "" for none.
func (b unsetBool) String() string {
	if b.value == nil || *b.value == nil {
		return ""
	}
	return strconv.FormatBool(**b.value)
}

// Set reads true or false.
func (b unsetBool) Set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	*b.value = &v
	return nil
}

// Type is that of boolean flags, as which help lists it.
func (b unsetBool) Type() string { return "bool" }
