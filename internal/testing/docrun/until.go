package docrun

import (
	"context"
	"strings"
)

// interrupted is a script that runs another one until that prints a text, as a user
// does who watches it and then presses Ctrl-C. It fails if that ends before.
func interrupted(script, text string) string {
	return `set -m
mkfifo "$STATE/said"
( ` + script + `
) > "$STATE/said" 2>&1 &
watched=$! seen=1
exec 2>/dev/null # what the shell says of its job
while IFS= read -r line; do
  printf '%s\n' "$line"
  case $line in *` + quoted(text) + `*) seen=0; break ;; esac
done < "$STATE/said"
rm "$STATE/said"; kill -INT -- "-$watched"; wait "$watched"
exit $seen`
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// has reports whether scripts find a program.
func (s *shell) has(ctx context.Context, program string) bool {
	code, _, err := s.do(ctx, "command -v "+quoted(program))
	return code == 0 && err == nil
}
