package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	inline   = regexp.MustCompile("`([^`\n]+)`")
	flagWord = regexp.MustCompile(`^--?[a-zA-Z][\w-]*`)
	exitSays = regexp.MustCompile(`(?i)exit codes? (\d+)`)
	codeRow  = regexp.MustCompile(`(?m)^\| (\d+) \|`)
)

// othersFlags are flags of other programs that pages name.
var othersFlags = []string{
	"--values", "--post-renderer", // helm
	"--enable-alpha-plugins", "--enable-exec", // kustomize
	"--runtime-config",                // kube-apiserver
	"--server-side", "--show-secrets", // kubectl
	"--match-server-version", "--profile-output", // the older plugin
	"--new", // stands for any flag
}

// TestDocs_FlagsExist: a flag that a page names within a sentence is one of this program, or of another that the test lists.
func TestDocs_FlagsExist(t *testing.T) {
	known := map[string]bool{"--help": true, "-h": true}
	var all []*cobra.Command
	each(whole(), func(c *cobra.Command) {
		all = append(all, c)
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags(), c.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				known["--"+f.Name] = true
				if f.Shorthand != "" {
					known["-"+f.Shorthand] = true
				}
			})
		}
	})
	count := 0
	eachProse(t, func(page, text string) {
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			if len(words) == 0 || slices.Contains([]string{"kustomize", "kubectl", "go", "make", "helm", "kubeconform", "flux", "git", "brew"}, words[0]) && !strings.HasPrefix(m[1], "kubectl kruise") {
				continue
			}
			for _, word := range words {
				flag := flagWord.FindString(word)
				if flag == "" || !strings.HasPrefix(flag, "--") && len(flag) > 2 {
					continue
				}
				count++
				if !known[flag] && !slices.Contains(othersFlags, flag) && !slices.ContainsFunc(all, takes(flag)) {
					t.Errorf("%s: %s in %q is no flag", page, flag, m[1])
				}
			}
		}
	})
	if count < 300 {
		t.Errorf("only %d flags were found", count)
	}
}

// takes reports whether a command has a flag under this name, former names and spellings included.
func takes(flag string) func(*cobra.Command) bool {
	return func(c *cobra.Command) bool { return c.Flags().Lookup(strings.TrimLeft(flag, "-")) != nil }
}

// TestDocs_VerbsWithFlags: where a sentence names a verb with flags, the verb takes them.
func TestDocs_VerbsWithFlags(t *testing.T) {
	count := 0
	eachProse(t, func(page, text string) {
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(strings.TrimPrefix(m[1], "kubectl kruise "))
			if len(words) < 2 || slices.Contains([]string{"kubectl", "kustomize", "helm", "go", "make", "git"}, words[0]) {
				continue
			}
			c, rest, err := whole().Find(words)
			if err != nil || c.Parent() == nil {
				continue // it begins with something else than a verb
			}
			for _, word := range rest {
				if flag := flagWord.FindString(word); strings.HasPrefix(flag, "--") {
					count++
					if name := flag[2:]; c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil && !slices.Contains(othersFlags, flag) {
						t.Errorf("%s: %q: %s has no %s", page, m[1], c.CommandPath(), flag)
					}
				}
			}
		}
	})
	if count < 80 {
		t.Errorf("only %d flags were found", count)
	}
}

// TestDocs_ExitCodesAreThoseOfTheProgram: pages name no other exit codes, and the card has all of them.
func TestDocs_ExitCodesAreThoseOfTheProgram(t *testing.T) {
	var codes []string
	for _, code := range []int{exitDone, exitError, exitUsage, exitFailed, exitTimedOut, exitPaused, exitInterrupted} {
		codes = append(codes, fmt.Sprint(code))
	}
	eachProse(t, func(page, text string) {
		for _, m := range exitSays.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(codes, m[1]) {
				t.Errorf("%s: there is no %s", page, m[0])
			}
		}
	})
	card, err := os.ReadFile("../../docs/card.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range codeRow.FindAllStringSubmatch(string(card), -1) {
		rows = append(rows, m[1])
	}
	if !slices.Equal(rows, codes) {
		t.Errorf("docs/card.md has the exit codes %v, the program %v", rows, codes)
	}
}

// eachProse calls visit with each page and its text outside of blocks.
func eachProse(t *testing.T, visit func(page, text string)) {
	t.Helper()
	for _, glob := range []string{"README*.md", "docs/*.md"} {
		pages, err := filepath.Glob(filepath.Join("..", "..", glob))
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			within := false
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(strings.TrimSpace(line), "```") {
					within = !within
				} else if !within {
					out.WriteString(line)
				}
			}
			visit(filepath.Base(page), out.String())
		}
	}
}
