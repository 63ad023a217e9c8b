package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// typed is what bash does when a user types a line and presses the tabulator. Of the
// package bash-completion, on which the script builds, it needs one function: the words.
const typed = `
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}; }
__ltrim_colon_completions() { :; }
compopt() { :; } # bash has it only while it completes itself
source <(kubectl-kruise completion bash)
complete -p kubectl-kruise >/dev/null || exit
COMP_WORDS=(kubectl-kruise "$@" ) COMP_CWORD=$#
COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMPREPLY=()
__start_kubectl-kruise
printf '%s\n' "${COMPREPLY[@]}"
`

// TestCompletion_CompletesInBash: in a real bash, a word that one begins with has its end.
func TestCompletion_CompletesInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for line, want := range map[string][]string{
		"simu":                      {"simulate"},
		"rollout prom":              {"promote"},
		"render --target nat":       {"native"},
		"completion b":              {"bash"},
		"plan --on-failure rollb":   {"rollback"},
		"set image --dry-run=serve": {"server"},
		"schema kustomize-c":        {"kustomize-config"},
	} {
		cmd := exec.CommandContext(t.Context(), bash, append([]string{"-c", typed, "bash"}, strings.Fields(line)...)...)
		cmd.Env = append(cmd.Environ(), alone(t)...)
		out, err := cmd.CombinedOutput()
		if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", line, out, err, want)
		}
	}
}

// scripts are what the script of a shell asks and how it binds itself, and how that shell
// reads a script without running it.
var scripts = map[string]struct {
	has   []string
	reads []string
}{
	"bash":       {[]string{`__complete ${args[*]}`, "complete -o default -F __start_kubectl-kruise kubectl-kruise"}, []string{"bash", "-n"}},
	"zsh":        {[]string{`__complete ${words[2,-1]}`, "#compdef kubectl-kruise", "compdef _kubectl-kruise kubectl-kruise"}, []string{"zsh", "-n"}},
	"fish":       {[]string{`$args[1] __complete $args[2..-1] $lastArg`, "complete -c kubectl-kruise -n"}, []string{"fish", "--no-execute"}},
	"powershell": {[]string{`"$Program __complete $Arguments"`, "Register-ArgumentCompleter -CommandName 'kubectl-kruise'"}, nil},
}

// TestCompletionScripts_AskByTheProtocol: the script of each shell asks this program by the protocol that
// TestComplete_WritesCandidatesAndANumber tries out; where the shell is there, it takes the script.
func TestCompletionScripts_AskByTheProtocol(t *testing.T) {
	t.Parallel()
	for shell, want := range scripts {
		out, err := exec.CommandContext(t.Context(), "kubectl-kruise", "completion", shell).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want.has {
			if !strings.Contains(string(out), text) {
				t.Errorf("%s: no %q in\n%s", shell, text, out)
			}
		}
		if len(want.reads) == 0 {
			continue
		}
		if _, err := exec.LookPath(want.reads[0]); err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		cmd := exec.CommandContext(t.Context(), want.reads[0], want.reads[1:]...)
		cmd.Stdin = strings.NewReader(string(out))
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}

// TestComplete_WritesCandidatesAndANumber is what the scripts of all shells, and kubectl's helper, read: a line for
// each candidate, its description behind a tabulator, in the end a number.
func TestComplete_WritesCandidatesAndANumber(t *testing.T) {
	t.Parallel()
	for _, program := range [][]string{
		{"kubectl-kruise", "__complete"},
		{"sh", "../../plugins/completion/kubectl_complete-kruise"},
	} {
		cmd := exec.CommandContext(t.Context(), program[0], slices.Concat(program[1:], []string{"rollout", "re"})...)
		cmd.Env = append(cmd.Environ(), append(alone(t), "KUBECTL_KRUISE_ACTIVE_HELP=0")...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		for i, want := range []string{"restart\t", "resume\t", "retry\t", ":4"} {
			if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
				t.Errorf("%s: %q", program, lines)
				break
			}
		}
	}
}
